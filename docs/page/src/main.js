// The page: its tabs, and odt in a worker behind them.

import { Device } from './device.js';
import { $ } from './dom.js';
import { editor } from './editor.js';
import { Engine } from './engine.js';
import { Learn } from './learn.js';
import { Plan } from './plan.js';

const began = performance.now();
const tabs = [...document.querySelectorAll('[role=tab]')];

function select(tab) {
  for (const each of tabs) {
    const chosen = each === tab;
    each.setAttribute('aria-selected', chosen);
    each.tabIndex = chosen ? 0 : -1;
    $(each.getAttribute('aria-controls')).hidden = !chosen;
  }
}

tabs.forEach((tab, index) => {
  tab.addEventListener('click', () => select(tab));
  tab.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const next = tabs[(index + step + tabs.length) % tabs.length];
      select(next);
      next.focus();
    }
  });
});

async function main() {
  if (typeof WebAssembly !== 'object') {
    throw new Error('this browser has no WebAssembly: odt cannot run here');
  }
  const engine = new Engine();
  const [examples, xor] = await Promise.all([
    fetch('examples.json').then((answer) => answer.json()),
    fetch('xor.py').then((answer) => answer.text()),
    engine.ready,
  ]);
  document.body.dataset.ready = Math.round(performance.now() - began);
  const plan = new Plan(engine, examples);
  new Learn(engine, plan);
  const script = editor($('board-script'), xor, () => {});
  new Device(engine, script);
  await plan.begin();
}

main().catch((error) => {
  $('say').textContent = `The page did not start: ${error.message}`;
  $('say').classList.add('wrong');
});
