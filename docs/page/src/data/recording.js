// Classes that a person records with this device's sensor, and what the network says of what comes.

import { $, element } from '../dom.js';
import { motion } from './motion.js';
import { sound } from './sound.js';

// `skip`: samples after the click that are left out; `rate`: numbers per second.
const SENSORS = {
  motion: {
    start: motion, seconds: 10, rate: 300, skip: 150,
    how: 'Hold the phone or wear it. Name a movement, press Record, and repeat it until the bar is full. Record a '
      + 'second one, or rest, too. Then train.',
  },
  sound: {
    start: sound, seconds: 10, rate: 8000, skip: 0,
    how: 'Name a word, press Record, and say it again and again, with a pause after each. Record a second one, too: '
      + 'four of each or more. Then train.',
  },
};

export class Recording {
  constructor(engine) {
    this.engine = engine;
    this.takes = { motion: [], sound: [] }; // [name, Int16Array]: given again to odt where it was started again
    this.kind = null;
    this.ends = null; // ends what is recorded or recognised
  }

  async show(kind) {
    this.kind = kind;
    $('recording').hidden = !kind;
    if (kind) {
      $('how').textContent = SENSORS[kind].how;
      this.list([]);
      await this.again();
    }
  }

  // All that was recorded, to an odt that knows nothing of it.
  async again() {
    for (const [name, samples] of this.takes[this.kind]) {
      this.list((await this.give(name, samples)).classes);
    }
    this.starts = this.engine.starts;
  }

  async give(name, samples) {
    await this.engine.write('recorded', new Uint8Array(samples.buffer));
    return this.engine.call('recorded', { kind: this.kind, name });
  }

  // Until its time is over, or stop().
  async record(name, say) {
    const { start, seconds, rate, skip } = SENSORS[this.kind];
    const parts = [];
    let count = 0;
    const stop = await start((samples) => {
      parts.push(samples);
      count += samples.length;
      $('progress').value = Math.min(1, count / (seconds * rate));
      if (count >= seconds * rate) {
        this.ends?.();
      }
    });
    $('record').textContent = 'Stop';
    say(`Recording ${name} ...`);
    if (count < seconds * rate) {
      await new Promise((resolve) => { this.ends = resolve; });
    }
    this.ends = null;
    $('record').textContent = 'Record';
    $('progress').value = 0;
    await stop();
    const samples = joined(parts).slice(skip);
    const { found, classes } = await this.give(name, samples);
    this.list(classes);
    if (!found) {
      throw new Error(this.kind === 'sound' ? 'no word was found: speak louder than the room, with pauses'
        : 'the recording is shorter than a window of 2.56 s');
    }
    this.takes[this.kind].push([name, samples]);
    return `${found} ${this.kind === 'sound' ? 'words' : 'windows'} of ${name} are recorded.`;
  }

  // What the network says, as it comes, until stop().
  async recognise() {
    const queue = [];
    await this.engine.call('listen', { kind: this.kind });
    let wake = () => {};
    const stop = await SENSORS[this.kind].start((samples) => { queue.push(samples); wake(); });
    let over = false;
    this.ends = () => { over = true; wake(); };
    $('recognise').textContent = 'Stop';
    $('heard').textContent = 'Listening ...';
    try {
      while (!over) {
        if (!queue.length) {
          await new Promise((resolve) => { wake = resolve; });
          continue;
        }
        await this.engine.write('heard', new Uint8Array(joined(queue.splice(0)).buffer));
        const { found } = await this.engine.call('heard');
        for (const [name, share] of found) {
          $('heard').textContent = `${name}, ${(100 * share).toFixed(0)} %`;
        }
      }
    } finally {
      this.ends = null;
      $('recognise').textContent = 'Recognise';
      await stop();
    }
  }

  stop() {
    this.ends?.();
  }

  list(classes) {
    const what = this.kind === 'sound' ? 'words' : 'windows';
    $('classes').replaceChildren(...classes.map(([name, count]) => element('li', {}, `${name}: ${count} ${what} `,
      element('button', { 'aria-label': `forget ${name}`, onclick: () => this.forget(name) }, 'Forget'))));
  }

  async forget(name) {
    this.takes[this.kind] = this.takes[this.kind].filter(([each]) => each !== name);
    this.list((await this.engine.call('forgotten', { kind: this.kind, name })).classes);
  }
}

function joined(parts) {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
