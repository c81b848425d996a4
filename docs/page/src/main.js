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
  dispatchEvent(new Event('resize')); // for curves that were drawn on a hidden tab
}

for (const button of document.querySelectorAll('[data-goto]')) {
  button.addEventListener('click', () => {
    select($(button.dataset.goto));
    $(button.dataset.goto).focus();
    scrollTo(0, 0);
  });
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

// A file that was dropped goes to the tab that reads it: models and scripts are planned, samples train.
function dropped(file, plan, learn) {
  const samples = /\.(npz|csv|tsv|txt)$/i.test(file.name);
  select($(samples ? 'tab-learn' : 'tab-plan'));
  return samples ? learn.open(file) : plan.open(file);
}

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
  const learn = new Learn(engine, plan);
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) {
      dropped(file, plan, learn);
    }
  });
  new Device(engine, plan, await fetch('board.py').then((answer) => answer.text()));
  document.body.dataset.complete = true;
}

main().catch((error) => {
  $('say').textContent = `The page did not start: ${error.message}`;
  $('say').classList.add('wrong');
});
