// A board, virtual or real, beside its terminal: the same script there and on the page, and their digests.

import { Terminal } from '@xterm/xterm';
import { $, number } from './dom.js';
import { editor } from './editor.js';
import { VirtualPort } from './port.js';
import { Board } from './serial.js';

const HEAP = '\nimport gc\ngc.collect()\nprint("heap free:", gc.mem_free())\n';
const DIGEST = /digest ([0-9a-f]{8})/;

export class Device {
  constructor(engine, script) {
    this.engine = engine;
    this.editor = editor($('board-script'), script, () => {});
    this.terminal = new Terminal({ convertEol: true, cols: 80, rows: 18, screenReaderMode: true, fontSize: 13 });
    this.terminal.open($('terminal'));
    this.terminal.onData((text) => this.board?.write(text).catch((error) => this.say(error.message, true)));
    $('start-virtual').addEventListener('click', () => this.connect(() => new VirtualPort()));
    $('connect').addEventListener('click', () => this.connect(() => navigator.serial.requestPort()));
    $('run-board').addEventListener('click', () => this.run());
    if (!navigator.serial) {
      $('connect').disabled = true;
      $('no-serial').hidden = false;
    }
    fetch('parts.json').then((answer) => answer.json()).then(({ pico }) => {
      $('start-virtual').disabled = !pico;
      $('no-firmware').hidden = pico;
    });
  }

  async connect(choose) {
    try {
      const port = await choose();
      await this.board?.close().catch(() => {});
      this.board = null;
      const began = performance.now();
      const board = new Board(port, (text) => this.terminal.write(text));
      this.say('starting ...');
      await board.open();
      this.board = board;
      const version = (await board.exec('import sys\nprint(sys.implementation[2])')).trim();
      this.port = port;
      $('run-board').disabled = false;
      this.say(`${version}: connected after ${((performance.now() - began) / 1000).toFixed(1)} s.`);
      document.body.dataset.device = 'ready';
    } catch (error) {
      this.say(error.name === 'NotFoundError' ? 'No port was chosen.' : error.message, true);
      document.body.dataset.device = 'failed';
    }
  }

  async run() {
    $('run-board').disabled = true;
    document.body.dataset.device = 'busy';
    const script = this.editor.get();
    try {
      this.say('The page and the board run the script ...');
      const here = await this.engine.script(script).catch((error) => error.message);
      const before = this.port.cycles;
      const there = await this.board.exec(script + HEAP, { onText: (text) => this.terminal.write(text), seconds: 300 });
      const digests = [here, there].map((text) => text.match(DIGEST)?.[1]);
      const lines = [`digest on the page ${digests[0] ?? 'none'}, on the board ${digests[1] ?? 'none'}`];
      if (digests[0] && digests[0] === digests[1]) {
        lines.push('the same bits');
      }
      if (this.port.cycles) {
        lines.push(`${number(this.port.cycles - before)} cycles of the emulated chip`);
      }
      this.say(lines.join('; ') + '.');
    } catch (error) {
      this.say(error.message, true);
    }
    $('run-board').disabled = false;
    document.body.dataset.device = 'ready';
  }

  say(text, wrong = false) {
    $('device').textContent = text;
    $('device').classList.toggle('wrong', wrong);
  }
}
