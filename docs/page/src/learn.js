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
    $('clear').addEventListener('click', () => this.clear());
    $('teach').addEventListener('click', () => this.alone(() => this.teach()));
    $('example-digit').addEventListener('click', () => this.alone(() => this.show()));
    this.enable(false);
  }

  enable(trained) {
    for (const name of ['teach', 'example-digit']) {
      $(name).disabled = !trained;
    }
  }

  // An empty square, of which nothing is said.
  clear() {
    this.asked = null;
    this.pad.clear();
    $('answers').replaceChildren();
  }

  // Nothing is trained any longer.
  reset() {
    this.enable(false);
    this.taught = false;
    this.drawn.clear();
    $('recognise').disabled = true;
    $('digest').textContent = '';
    $('digest').parentNode.hidden = $('training').hidden = true;
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
    $('digest').parentNode.hidden = $('training').hidden = false;
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
    this.before = accuracies[count - 1] / 100;
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
    $('training').hidden = false;
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
    this.asked = pixels;
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
    } else {
      lines.push('It knows digits alone, until you teach it a sign.');
    }
    if (this.asked === pixels) { // else the square was cleared, or holds another drawing
      $('answers').replaceChildren(...lines.map((line) => element('p', {}, line)));
      this.pad.answered = true;
    }
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
    const pixels = this.pad.pixels();
    this.clear();
    if (!this.taught) {
      this.say('The network that you teach is shown digits first, so that it keeps them ...');
      await this.engine.call('new_class');
    }
    const { labels } = await this.engine.call('teach', { pixels, label });
    this.taught = true;
    const drawn = (this.drawn.get(label) ?? 0) + 1;
    this.drawn.set(label, drawn);
    if (drawn < SHOWN) {
      this.say(`Drawing ${drawn} of ${SHOWN} of ${label} is learned: draw it once more, and teach it.`);
    } else {
      await this.retained(labels.length, label);
    }
    if (this.pad.empty) {
      await this.look();
    }
    return undefined;
  }

  // What the taught network still knows of the digits that were held back.
  async retained(classes, label) {
    this.say(`The network knows ${classes} classes now; it reads the test digits again ...`);
    const { names, counts, right, tests } = await this.engine.call('retained');
    drawConfusion($('confusion'), counts, names,
      'The network that you taught: a row per class, a column per answer; of test digits, and of your drawings');
    this.say(`The network knows ${classes} classes; of ${tests} test digits ${percent(right / tests)} are right, `
      + `${percent(this.before)} before. Draw a digit or ${label}: it says which.`);
  }

  // An image that the network did not learn from.
  async show() {
    const index = 1500 + Math.floor(Math.random() * 297);
    this.pad.load(this.data.subarray(64 * index, 64 * index + 64));
    await this.look();
  }
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
