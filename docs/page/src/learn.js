// Training on the page: the network that is planned learns, and then is taught a class that a person draws.

import { Sources } from './data/sources.js';
import { $, bytesOf, element } from './dom.js';
import { Pad } from './pad.js';
import { curves, drawConfusion, drawMaps } from './pictures.js';

const SHOWN = 3; // drawings of a new class
// How the layers before the last are updated, and the curve's colour.
const VARIANTS = [
  ['all layers', '1', '--kind-a'],
  ['a quarter of the channels', '0.25', '--kind-g'],
  ['the last layer alone', 'frozen', '--kind-e'],
];

export class Learn {
  constructor(engine, plan) {
    this.engine = engine;
    this.plan = plan;
    this.pad = new Pad($('pad'), () => this.look());
    this.drawn = new Map(); // of each new class
    this.busy = false;
    this.sources = new Sources(engine, plan, this);
    $('train').addEventListener('click', () => this.alone(() => this.train()));
    $('compare').addEventListener('click', () => this.alone(() => this.compare()));
    $('clear').addEventListener('click', () => this.pad.clear());
    $('teach').addEventListener('click', () => this.alone(() => this.teach()));
    $('example-digit').addEventListener('click', () => this.alone(() => this.show()));
    this.enable(false);
  }

  enable(trained) {
    for (const name of ['teach', 'example-digit']) {
      $(name).disabled = !trained;
    }
  }

  // Nothing is trained any longer.
  reset() {
    this.enable(false);
    this.taught = false;
    this.drawn.clear();
    $('recognise').disabled = true;
    $('digest').textContent = 'none yet';
    for (const name of ['curves', 'confusion', 'filters', 'maps', 'answers']) {
      $(name).replaceChildren();
    }
    $('pictures').hidden = true;
  }

  // One action at a time; what goes wrong is said.
  async alone(action) {
    if (this.busy) {
      return;
    }
    this.busy = true;
    document.body.dataset.learning = 'busy';
    try {
      await action();
    } catch (error) {
      this.say(error.message, true);
    }
    this.busy = false;
    document.body.dataset.learning = 'idle';
  }

  open(file) {
    return this.alone(() => this.sources.open(file));
  }

  say(text, wrong = false) {
    $('learned').textContent = text;
    $('learned').classList.toggle('wrong', wrong);
  }

  // Returns how many epochs to train. `choose`: of layers' names, in place of what the planner has chosen.
  async begin(choose) {
    if (!this.data) {
      this.data = await bytesOf('digits.bin');
      await this.engine.write('digits.bin', this.data);
    }
    await this.sources.ready();
    const request = this.plan.request();
    const choices = choose ? choose(this.plan.trained()) : request.choices;
    const planned = await this.engine.call('plan', { ...request, choices });
    const { tests, epochs } = await this.engine.call('begin', { script: planned.script, digits: this.sources.digits });
    this.tests = this.sources.tested(tests);
    return epochs;
  }

  async train() {
    this.reset();
    const count = await this.begin();
    const epochs = [], losses = [], accuracies = [];
    for (let i = 0; i < count; i++) {
      const found = await this.engine.call('epoch');
      epochs.push(found.epoch);
      losses.push(found.loss);
      accuracies.push(100 * found.accuracy);
      curves($('curves'), epochs, [['loss', losses, '--kind-e', 'loss'], ['accuracy, %', accuracies, '--kind-a', '%']]);
      $('digest').textContent = found.digest;
      this.say(`Epoch ${found.epoch} of ${count}: ${percent(found.accuracy)} of ${this.tests} are classified `
        + `correctly. ${Math.round(found.ms)} ms.`);
    }
    const { counts } = await this.engine.call('confusion');
    drawConfusion($('confusion'), counts, this.sources.table?.names ?? counts.map((_, digit) => digit));
    const { layer, kernels, width } = await this.engine.call('weights');
    drawMaps($('filters'), kernels, width, `weights of ${layer}`);
    $('pictures').hidden = !kernels.length;
    this.enable(this.sources.digits); // to draw is for digits
    $('recognise').disabled = !this.sources.recording.kind;
    await this.look();
    if (this.sources.digits) {
      this.say(`${$('learned').textContent} Now draw a sign in the square, name it and teach it.`);
      $('pad').scrollIntoView({ block: 'nearest' });
    } else if (this.sources.recording.kind) {
      this.say(`${$('learned').textContent} Press Recognise to try it.`);
    }
  }

  async compare() {
    this.reset();
    const series = [], epochs = [];
    for (const [name, choice, color] of VARIANTS) {
      const count = await this.begin((names) => Object.fromEntries(names.slice(0, -1).map((name) => [name, choice])));
      const accuracies = [];
      series.push([name, accuracies, color, '%']);
      for (let i = 0; i < count; i++) {
        const found = await this.engine.call('epoch');
        epochs[i] = found.epoch;
        accuracies.push(100 * found.accuracy);
        curves($('curves'), epochs, series);
        this.say(`${name}: ${percent(found.accuracy)} after epoch ${found.epoch}.`);
      }
    }
    const ends = series.map(([name, values]) => `${name}: ${percent(values[values.length - 1] / 100)}`);
    this.say(`${ends.join('; ')}. ${this.sources.digits ? 'Train again to draw digits.' : ''}`);
  }

  // What the network, and the teacher, say of the drawing.
  async look() {
    const pixels = this.sources.digits && !this.pad.empty ? this.pad.pixels() : null;
    if (!$('pictures').hidden) {
      const { maps, width } = await this.engine.call('activations', { pixels });
      $('seen').textContent = pixels ? 'What it makes of the drawing' : 'What it makes of the first test sample';
      drawMaps($('maps'), maps, width, $('seen').textContent);
    }
    if ($('teach').disabled || !pixels) {
      return;
    }
    const { probabilities } = await this.engine.call('classify', { pixels });
    const best = probabilities.indexOf(Math.max(...probabilities));
    const lines = [`The network that learned ten digits says ${best} (${(100 * probabilities[best]).toFixed(0)} %).`];
    if (this.taught) {
      const { label, confidence } = await this.engine.call('ask', { pixels });
      lines.push(`The network that you taught says ${label} (${(100 * confidence).toFixed(0)} %).`);
    }
    $('answers').replaceChildren(...lines.map((line) => element('p', {}, line)));
  }

  async teach() {
    const label = $('label').value.trim();
    if (!label || new TextEncoder().encode(label).length > 19) {
      $('label').focus();
      return this.say('Give the sign a name of at most 19 letters.', true);
    }
    if (this.pad.empty) {
      return this.say('Draw something first, with the mouse or a finger.', true);
    }
    if (!this.taught) {
      await this.engine.call('new_class');
    }
    const { labels } = await this.engine.call('teach', { pixels: this.pad.pixels(), label });
    this.taught = true;
    const drawn = (this.drawn.get(label) ?? 0) + 1;
    this.drawn.set(label, drawn);
    this.say(drawn < SHOWN ? `${drawn} of ${SHOWN} drawings of ${label} are learned: draw it once more, and teach it.`
      : `The network knows ${labels.length} classes now. Draw a digit or ${label}: it says which.`);
    await this.look();
    this.pad.clear();
    return undefined;
  }

  // An image that the network did not learn from.
  async show() {
    const index = 1500 + Math.floor(Math.random() * 297);
    this.pad.load(this.data.subarray(64 * index, 64 * index + 64));
    await this.look();
  }
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
