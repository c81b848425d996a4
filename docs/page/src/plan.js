// The planner: a network, what of it trains, and what that takes.

import { $, element, number } from './dom.js';
import { drawBoards, needed } from './boards.js';
import { drawArena, drawRam } from './charts.js';

const CHOICES = [
  ['1', 'all'], ['0.5', 'half of the channels'], ['0.25', 'a quarter of the channels'], ['bias', 'bias alone'],
  ['lite', 'lite branch'], ['frozen', 'frozen'],
];
const CONTROLS = ['optimizer', 'learning_rate', 'batch_size', 'micro_batch', 'dtype', 'loss', 'checkpoint', 'flash',
  'memory_budget'];
const NUMBERS = ['learning_rate', 'batch_size', 'micro_batch', 'memory_budget'];
const NAMES = { 'total RAM': 'arena and state: total RAM of summary()', RAM: 'RAM: arena, state and program' };
const LIMIT = 20; // seconds
const PAUSE = 60; // ms until a step's time is estimated: whoever chooses quickly does not wait for it

export class Plan {
  constructor(engine, examples) {
    this.engine = engine;
    this.examples = examples;
    this.choices = {};
    this.file = null; // the name of a model file, where that is shown
    this.turn = 0;
    this.editor = { text: '', get() { return this.text; }, set(text) { this.text = text; } }; // until edit()
    $('network').append(...examples.map((row, index) => element('option', { value: index }, row.title)),
      element('option', { value: 'own' }, 'Your own script'));
    $('network').addEventListener('change', () => this.choose($('network').value));
    for (const name of CONTROLS) {
      $(name).addEventListener('change', () => this.redraw());
    }
    $('model-file').addEventListener('change', (event) => this.open(event.target.files[0]));
    $('freeze').addEventListener('click', () => this.freeze());
    $('copy-link').addEventListener('click', () => this.share());
    $('copy-code').addEventListener('click', () => navigator.clipboard?.writeText($('code').textContent));
    addEventListener('hashchange', () => this.begin());
  }

  // Show the script in an editor, which is loaded after the first plan.
  edit(make) {
    this.editor = make($('script'), this.editor.get(), () => this.later());
  }

  // From the link, or with the example that README shows.
  begin() {
    const shared = location.hash.match(/^#plan=(.+)$/);
    if (shared) {
      try {
        const { source, choices, options } = JSON.parse(unpacked(shared[1]));
        this.take(String(source), options, choices);
        $('network').value = this.examples.findIndex((row) => row.source === source);
        if ($('network').selectedIndex < 0) {
          $('network').value = 'own';
        }
        return this.redraw();
      } catch {
        this.say('The link does not hold a plan; this is the first example.', true);
      }
    }
    return this.choose(1);
  }

  choose(value) {
    $('network').value = value;
    if (value === 'own') {
      $('editing').open = true;
      return undefined;
    }
    const row = this.examples[value];
    this.take(row.source, row.options, {});
    return this.redraw();
  }

  freeze() {
    const names = this.trained();
    names.forEach((name, index) => { this.choices[name] = index < names.length - 1 ? 'frozen' : '1'; });
    return this.redraw();
  }

  // A script that another tab makes.
  propose(source) {
    $('network').value = 'own';
    this.take(source, {}, {});
    return this.redraw();
  }

  // The planned network's script, with a few steps on noise: for a board.
  async boarded() {
    await this.drawing;
    if (this.file) {
      throw new Error('a model file is planned: choose a network, whose script a board can run');
    }
    const { steps } = await this.engine.call('boarded');
    return $('code').textContent + steps;
  }

  // Names of the layers of which the planner can choose what trains.
  trained() {
    return [...document.querySelectorAll('#layers select')].map((select) => select.dataset.layer);
  }

  take(source, options, choices) {
    this.file = null;
    this.choices = { ...choices };
    this.editor.set(source);
    for (const name of CONTROLS) {
      const control = $(name);
      if (control.type === 'checkbox') {
        control.checked = Boolean(options[name]);
      } else {
        control.value = options[name] ?? control.dataset.usual ?? '';
      }
    }
    if (options.momentum) {
      $('optimizer').value = 'momentum';
    }
    this.seed = options.seed || 0;
  }

  options() {
    const found = { seed: this.seed };
    for (const name of CONTROLS) {
      const control = $(name);
      if (control.type === 'checkbox') {
        found[name] = control.checked;
      } else if (control.value !== '') {
        found[name] = NUMBERS.includes(name) ? Number(control.value) : control.value;
      }
    }
    return found;
  }

  request() {
    return { source: this.editor.get(), choices: this.choices, options: this.options() };
  }

  // A script is planned when no key was pressed for a while.
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      $('network').value = 'own';
      this.file = null;
      this.redraw();
    }, 600);
  }

  // What is empty until the first plan; of one that fails, too, since a control may mend it.
  reveal() {
    for (const part of document.querySelectorAll('[data-until=plan]')) {
      part.hidden = false;
    }
  }

  redraw() {
    this.drawing = this.drawn();
    return this.drawing;
  }

  async drawn() {
    const turn = ++this.turn;
    this.say('planning ...');
    const began = performance.now();
    try {
      const found = this.file ? await this.engine.call('figured', { path: this.file }, LIMIT)
        : await this.engine.call('plan', this.request(), LIMIT);
      if (turn !== this.turn) {
        return;
      }
      this.reveal();
      this.show(found);
      await new Promise(requestAnimationFrame);
      document.body.dataset.took = Math.round(performance.now() - began);
      document.body.dataset.first ??= Math.round(performance.now()); // since the page was opened
      const ms = Math.round(found.ms);
      this.say(`${number(needed(found))} bytes of RAM: arena, state and program. Planned in ${ms} ms.`);
      document.body.dataset.planned = turn;
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
      if (turn !== this.turn) {
        return;
      }
      const times = await this.engine.call('times', {}, LIMIT).catch((error) => {
        this.say(error.message, true);
        return {};
      });
      if (turn === this.turn) {
        drawBoards(found, times);
        document.body.dataset.timed = turn;
      }
    } catch (error) {
      if (turn === this.turn) {
        this.reveal();
        this.say(error.message, true);
        document.body.dataset.planned = turn;
      }
    }
  }

  show(found) {
    const known = new Map(found.layers.map((layer) => [layer.name, layer]));
    const held = document.activeElement.dataset.layer;
    $('layers').replaceChildren(...found.table.map((row) => this.row(row, known.get(row[0]))));
    if (held) {
      [...$('layers').querySelectorAll('select')].find((select) => select.dataset.layer === held)?.focus();
    }
    const chosen = [...$('layers').querySelectorAll('select')].map((select) => select.value);
    $('freeze').disabled = !chosen.length;
    $('flash-hint').hidden = $('flash').checked || !chosen.some((choice) => choice === 'frozen' || choice === 'lite');
    drawRam($('ram'), found);
    drawArena($('arena'), found);
    drawBoards(found, {});
    const list = [
      ['arena', found.arena], ['lower bound of the arena', found.lower_bound],
      ...['activations', 'errors', 'gradients', 'scratch'].map((kind) => [`most ${kind} at a time`, found.peaks[kind]]),
      ['weights', found.totals.weights], ['optimizer state', found.totals['optimizer state']],
      ['state', found.state], ['total RAM', found.arena + found.state], ['program', found.program],
      ['RAM', needed(found)],
      ['frozen weights in flash', found.flash], ['MACs computed again', found.again],
    ];
    $('figures').replaceChildren(...list.map(([name, value]) => element('tr', {},
      element('th', { scope: 'row' }, NAMES[name] ?? name), element('td', { 'data-figure': name }, number(value)))));
    $('code').textContent = found.script || '# a model file keeps the plan that it was exported with\n';
  }

  // A row of summary(); `layer`: what may be chosen of it, undefined for one of a branch.
  row([name, kind, shape, parameters, forward, backward], layer) {
    const cells = [kind, shape.join('×'), number(parameters), number(forward), number(backward)];
    return element('tr', {}, element('th', { scope: 'row' }, name),
      element('td', {}, layer?.weights && !this.file ? this.chooser(layer) : ''),
      ...cells.map((text, index) => element('td', { class: index > 1 ? 'n' : '' }, text)));
  }

  chooser(layer) {
    const chosen = this.choices[layer.name] ?? (layer.trains ? '1' : 'frozen');
    const possible = CHOICES.filter(([value]) => value === '1' || value === 'frozen' || (layer.channels
      && (value !== 'bias' || layer.bias) && (value !== 'lite' || layer.lite)));
    return element('select', {
      'aria-label': `what of ${layer.name} trains`,
      'data-layer': layer.name,
      onchange: (event) => {
        this.choices[layer.name] = event.target.value;
        this.redraw();
      },
    }, ...possible.map(([value, text]) => element('option', { value, selected: value === chosen }, text)));
  }

  // A model file, or a script; it stays on this machine.
  async open(file) {
    if (!file) {
      return;
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (file.name.endsWith('.py')) {
      this.take(new TextDecoder().decode(bytes), this.options(), {});
      $('network').value = 'own';
    } else {
      this.file = '/dropped.odt';
      this.label = file.name;
      await this.engine.write('dropped.odt', bytes);
    }
    await this.redraw();
  }

  async share() {
    location.hash = `plan=${packed(JSON.stringify(this.request()))}`;
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    this.say('The link is in the address bar, and in the clipboard where the browser allows it.');
  }

  say(text, wrong = false) {
    $('say').textContent = this.file ? `${this.label}: ${text}` : text;
    $('say').classList.toggle('wrong', wrong);
  }
}

const packed = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
  .replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
const unpacked = (text) => new TextDecoder().decode(
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0)),
);

