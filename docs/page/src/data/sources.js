// What the network learns from: the digits, recordings of an example, a file, or this device's sensors.

import { $, bytesOf } from '../dom.js';
import { readNpz } from './npz.js';
import { Recording } from './recording.js';

const EXAMPLES = { gesture: 'day.bin', keyword: 'test.bin' };
const LARGE = 16 * 1024 * 1024; // bytes of a file
const DIGITS = 1; // the planner's network for them

export class Sources {
  // `learn`: alone(action), say(text).
  constructor(engine, plan, learn) {
    Object.assign(this, { engine, plan, learn, kind: 'digits', table: null });
    this.recording = new Recording(engine);
    $('source').addEventListener('change', () => learn.alone(() => this.choose($('source').value)));
    $('table-file').addEventListener('change', (event) => learn.alone(() => this.open(event.target.files[0])));
    $('record').addEventListener('click', () => (this.recording.ends ? this.recording.stop()
      : learn.alone(() => this.record())));
    $('recognise').addEventListener('click', () => (this.recording.ends ? this.recording.stop()
      : learn.alone(() => this.recording.recognise())));
  }

  get digits() {
    return this.kind === 'digits';
  }

  // "500 test images".
  tested(count) {
    return `${count} test ${this.digits ? 'images' : 'samples'}`;
  }

  async choose(kind) {
    this.kind = kind;
    this.table = this.again = null;
    $('source').value = kind;
    $('file-field').hidden = kind !== 'file';
    $('drawing').hidden = $('steps').hidden = !this.digits;
    $('recognise').hidden = $('heard').hidden = kind !== 'motion' && kind !== 'sound';
    $('heard').textContent = '';
    this.learn.reset();
    await this.recording.show(kind === 'motion' || kind === 'sound' ? kind : null);
    if (this.digits) {
      await this.plan.choose(DIGITS);
      this.learn.say('Not trained yet.');
    } else if (EXAMPLES[kind]) {
      await this.engine.write(EXAMPLES[kind], await bytesOf(EXAMPLES[kind]));
      await this.take({ kind });
      this.tell(`Recordings of examples/${kind}`);
    } else {
      this.learn.say(kind === 'file' ? 'Choose a file, or drop it on the page.' : 'Nothing is recorded yet.');
    }
  }

  // A CSV or .npz file; it stays on this machine.
  async open(file) {
    if (!file) {
      return;
    }
    if (this.kind !== 'file') {
      await this.choose('file');
    }
    if (file.size > LARGE) {
      throw new Error(`${file.name} has ${file.size} bytes, the page takes at most ${LARGE}`);
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes[0] === 0x50 && bytes[1] === 0x4b || file.name.endsWith('.npz')) {
      const { x, y, ...what } = await readNpz(bytes).catch((error) => {
        throw new Error(`${file.name}: ${error.message}`);
      });
      await this.engine.write('x', x);
      await this.engine.write('y', y);
      await this.take({ kind: 'npz', ...what });
    } else {
      await this.engine.write('table', bytes);
      await this.take({ kind: 'csv', name: file.name });
    }
    this.tell(file.name);
  }

  async record() {
    const name = $('class-name').value.trim();
    if (!name) {
      $('class-name').focus();
      throw new Error('Give the class a name first.');
    }
    this.learn.say(await this.recording.record(name, (text) => this.learn.say(text)));
  }

  // The samples, as opened() of learning.py makes them of `request`, and the network for them.
  async take(request) {
    this.table = null;
    const table = await this.engine.call('opened', request);
    const same = this.again && this.source === table.source;
    Object.assign(this, { table, again: request, source: table.source, starts: this.engine.starts });
    if (!same) {
      await this.plan.propose(table.source);
    }
  }

  tell(name) {
    const { features, names, samples, tests } = this.table;
    this.learn.say(`${name}: ${features} features, ${names.length} classes (${names.join(', ')}). ${samples} samples `
      + `train, ${tests} are held back. The first tab has a network for them. Train it.`);
  }

  // Before training: what was recorded, and what an odt that was started again does not know.
  async ready() {
    if (this.recording.kind) {
      if (this.recording.starts !== this.engine.starts) {
        await this.recording.again();
      }
      await this.take({ kind: this.kind });
    } else if (this.again && this.starts !== this.engine.starts) {
      await this.take(this.again);
    }
  }
}
