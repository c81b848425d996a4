// Training on the page: the network that is planned learns the digits, and then a class that a person draws.

import uPlot from 'uplot';
import { $, bytesOf, element } from './dom.js';
import { Pad } from './pad.js';

const EPOCHS = 8;
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
    this.drawn = 0;
    this.busy = false;
    this.table = null; // of the person's own: {features, names, samples, tests}
    $('table-file').addEventListener('change', (event) => this.alone(() => this.open(event.target.files[0])));
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

  say(text, wrong = false) {
    $('learned').textContent = text;
    $('learned').classList.toggle('wrong', wrong);
  }

  // Whether the network is for the person's own table.
  get own() {
    return this.table !== null && $('network').value === 'own';
  }

  async open(file) {
    await this.engine.write('table', new Uint8Array(await file.arrayBuffer()));
    this.table = await this.engine.call('read', { name: file.name });
    const { features, names, samples, tests, source } = this.table;
    await this.plan.propose(source);
    this.say(`${file.name}: ${features} features, ${names.length} classes (${names.join(', ')}). ${samples} samples ` +
      `train, ${tests} are held back. The first tab has a network for them. Train it.`);
  }

  async begin(choices) {
    if (!this.data) {
      this.data = await bytesOf('digits.bin');
      await this.engine.write('digits.bin', this.data);
    }
    const request = this.plan.request();
    const planned = await this.engine.call('plan', { ...request, choices: choices ?? request.choices });
    const { tests } = await this.engine.call('begin', { script: planned.script, own: this.own });
    this.tests = `${tests} test ${this.own ? 'samples' : 'images'}`;
  }

  async train() {
    this.enable(false);
    this.taught = false;
    this.drawn = 0;
    $('answers').replaceChildren();
    await this.begin();
    const epochs = [], losses = [], accuracies = [];
    for (let i = 0; i < EPOCHS; i++) {
      const found = await this.engine.call('epoch');
      epochs.push(found.epoch);
      losses.push(found.loss);
      accuracies.push(100 * found.accuracy);
      curves($('curves'), epochs, [['loss', losses, '--kind-e', 'loss'], ['accuracy, %', accuracies, '--kind-a', '%']]);
      $('digest').textContent = found.digest;
      this.say(`Epoch ${found.epoch} of ${EPOCHS}: ${percent(found.accuracy)} of ${this.tests} are classified correctly. `
        + `${Math.round(found.ms)} ms.`);
    }
    const { counts } = await this.engine.call('confusion');
    confusion($('confusion'), counts, this.own ? this.table.names : counts.map((_, digit) => digit));
    filters($('filters'), await this.engine.call('filters'));
    this.enable(!this.own); // to draw is for digits
    await this.look();
  }

  async compare() {
    this.enable(false);
    const layers = [...document.querySelectorAll('#layers select')].slice(0, -1).map((select) => select.dataset.layer);
    const series = [], epochs = [];
    for (const [name, choice, color] of VARIANTS) {
      await this.begin(Object.fromEntries(layers.map((layer) => [layer, choice])));
      const accuracies = [];
      series.push([name, accuracies, color, '%']);
      for (let i = 0; i < EPOCHS; i++) {
        const found = await this.engine.call('epoch');
        epochs[i] = found.epoch;
        accuracies.push(100 * found.accuracy);
        curves($('curves'), epochs, series);
        this.say(`${name}: ${percent(found.accuracy)} after epoch ${found.epoch}.`);
      }
    }
    const ends = series.map(([name, values]) => `${name}: ${percent(values[EPOCHS - 1] / 100)}`);
    this.say(`${ends.join('; ')}. Train again to draw digits.`);
  }

  // What the network, and the teacher, say of the drawing.
  async look() {
    if ($('teach').disabled || this.pad.empty) {
      return;
    }
    const pixels = this.pad.pixels();
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
      return this.say('Give the class a name of at most 19 letters.', true);
    }
    if (this.pad.empty) {
      return this.say('Draw something first, with the mouse or a finger.', true);
    }
    if (!this.taught) {
      await this.engine.call('new_class');
    }
    const { labels } = await this.engine.call('teach', { pixels: this.pad.pixels(), label });
    this.taught = true;
    this.drawn++;
    this.say(this.drawn < SHOWN ? `${this.drawn} of ${SHOWN} drawings of ${label} are learned: draw it once more.`
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

function curves(place, epochs, series) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const line = { stroke: color('--line'), width: 1 };
  const axis = { stroke: color('--text'), grid: line, ticks: line };
  const scales = [...new Set(series.map(([, , , scale]) => scale))];
  place.replaceChildren();
  new uPlot({
    width: Math.min(620, place.clientWidth),
    height: 240,
    scales: {
      x: { time: false },
      '%': { range: [0, 100] },
      loss: { range: (_, low, high) => [0, Math.max(high, 0.1)] },
    },
    axes: [
      { ...axis, label: 'epoch' },
      ...scales.map((scale, index) => ({ ...axis, scale, label: scale, side: index ? 1 : 3 })),
    ],
    series: [{ label: 'epoch' }, ...series.map(([label, , name, scale], index) => ({
      label, scale, stroke: color(name), width: 2, dash: [[], [8, 4], [2, 4]][index % 3],
    }))],
  }, [epochs, ...series.map(([, values]) => values)], place);
}

function confusion(place, counts, names) {
  const most = Math.max(...counts.flat());
  const columns = names.map((name) => element('th', { scope: 'col' }, name));
  const head = element('tr', {}, element('td', {}, ''), ...columns);
  place.replaceChildren(element('caption', {}, 'What was held back: a row per class, a column per answer'), head,
    ...counts.map((row, label) => element('tr', {}, element('th', { scope: 'row' }, names[label]), ...row.map((count) => {
      const cell = element('td', { class: 'n heat' }, count);
      cell.style.setProperty('--share', count / most);
      return cell;
    }))));
}

function filters(place, { kernels, width }) {
  place.replaceChildren(...kernels.map((kernel, index) => {
    const canvas = element('canvas', {
      width, height: kernel.length / (width || 1), class: 'filter', role: 'img', 'aria-label': `filter ${index + 1}`,
    });
    const context = canvas.getContext('2d');
    kernel.forEach((value, at) => {
      context.fillStyle = `hsl(${value < 0 ? 20 : 210} 80% ${90 - 60 * Math.abs(value)}%)`;
      context.fillRect(at % width, Math.floor(at / width), 1, 1);
    });
    return canvas;
  }));
}
