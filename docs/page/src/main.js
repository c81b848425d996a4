// The page: its tabs, and odt in a worker behind them.

import { $ } from './dom.js';
import { Engine } from './engine.js';
import { Plan } from './plan.js';

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
  const [examples] = await Promise.all([fetch('examples.json').then((answer) => answer.json()), engine.ready]);
  document.body.dataset.ready = Math.round(performance.now());
  const plan = new Plan(engine, examples);
  await plan.begin();
  // What the other tabs need, and the editor, are loaded when the first plan stands.
  const [{ editor }, { Learn }, { Device }] = await Promise.all(
    [import('./editor.js'), import('./learn.js'), import('./device.js')],
  );
  plan.edit(editor);
  new Learn(engine, plan);
  new Device(engine, await fetch('xor.py').then((answer) => answer.text()));
  document.body.dataset.complete = true;
}

main().catch((error) => {
  $('say').textContent = `The page did not start: ${error.message}`;
  $('say').classList.add('wrong');
});
