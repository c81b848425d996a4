// A board, virtual or real, beside its terminal: the same script there and on the page, and their digests.

import { Terminal } from '@xterm/xterm';
import { $, number } from './dom.js';
import { editor } from './editor.js';
import { Files } from './files.js';
import { firmware, install } from './install.js';
import { curves } from './pictures.js';
import { VirtualPort } from './port.js';
import { Board } from './serial.js';

const HEAP = '\nimport gc\ngc.collect()\nprint("heap free:", gc.mem_free())\n';
const CLOCK = 125e6; // cycles of the virtual Pico in a second
const VERDICTS = [
  'The page and the board differ', 'The page and the board agree bit for bit',
  'There is nothing to compare: one of them printed no digest',
];
const DIGEST = /digest ([0-9a-f]{8})/;
const EPOCH = /^epoch (\d+)\/\d+ +loss ([\d.]+)/gm;

// {epoch: loss} of the lines that fit() prints.
const losses = (text) => new Map([...text.matchAll(EPOCH)].map(([, epoch, loss]) => [Number(epoch), Number(loss)]));

export class Device {
  constructor(engine, plan, script) {
    Object.assign(this, { engine, plan, xor: script, proposed: script, frozen: '' });
    this.editor = editor($('board-script'), script, () => {});
    this.terminal = new Terminal({ convertEol: true, cols: 80, rows: 18, screenReaderMode: true, fontSize: 13 });
    this.terminal.open($('terminal'));
    this.terminal.onData((text) => this.board?.write(text).catch((error) => this.say(error.message, true)));
    $('start-virtual').addEventListener('click', () => this.connect(() => new VirtualPort()));
    $('connect').addEventListener('click', () => this.connect(() => navigator.serial.requestPort()));
    $('run-board').addEventListener('click', () => this.run());
    $('board-choice').addEventListener('change', () => this.propose());
    $('tab-board').addEventListener('click', () => { // the plan may have changed
      if ($('board-choice').value === 'planned' && this.editor.get() === this.proposed) {
        this.propose();
      }
    });
    $('install').addEventListener('click', () => this.install());
    this.list = new Files((work) => this.busy(work));
    if (!navigator.serial) {
      $('connect').disabled = true;
      $('no-serial').hidden = false;
    }
    fetch('parts.json').then((answer) => answer.json()).then(({ pico, install: files }) => {
      this.files = files;
      $('start-virtual').disabled = !pico;
      $('no-firmware').hidden = pico;
    });
  }

  // The script that was chosen, in the editor.
  async propose() {
    try {
      this.proposed = $('board-choice').value === 'planned' ? await this.plan.boarded() : this.xor;
      this.editor.set(this.proposed);
      document.body.dataset.proposed = $('board-choice').value;
    } catch (error) {
      this.say(error.message, true);
      $('board-choice').value = 'xor';
    }
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
      this.frozen = await firmware(board);
      this.port = port;
      $('start-virtual').classList.remove('main');
      $('run-board').classList.add('main');
      this.enable(true);
      this.say(`${version}: connected after ${((performance.now() - began) / 1000).toFixed(1)} s.`);
      await this.list.show(board);
      document.body.dataset.device = 'ready';
    } catch (error) {
      this.say(error.name === 'NotFoundError' ? 'No port was chosen.' : error.message, true);
      document.body.dataset.device = 'failed';
    }
  }

  enable(on) {
    $('run-board').disabled = !on;
    $('install').disabled = !on || !this.files || Boolean(this.frozen);
    $('install').textContent = this.frozen ? `odt ${this.frozen} is in its firmware` : 'Install odt on it';
  }

  // Does what takes a while, and says how it ended.
  async busy(work) {
    this.enable(false);
    document.body.dataset.device = 'busy';
    try {
      this.say(await work());
    } catch (error) {
      const hint = /no module named 'odt'/.test(error.message) ? ': install odt first' : '';
      this.say(error.message + hint, true);
    }
    this.enable(true);
    document.body.dataset.device = 'ready';
  }

  install() {
    return this.busy(async () => {
      const done = await install(this.board, (text) => this.say(text));
      await this.list.show(this.board);
      return done;
    });
  }

  run() {
    return this.busy(async () => {
      const script = this.editor.get();
      this.say('The page and the board run the script ...');
      $('board-curves').replaceChildren();
      let failed = '';
      const here = await this.engine.script(script).catch((error) => { failed = error.message; return failed; });
      const before = this.port.cycles;
      const began = performance.now();
      let came = '';
      const there = await this.board.exec(script + HEAP, {
        onText: (text) => {
          this.terminal.write(text);
          came += text;
          if (text === '\n') {
            this.draw(here, came);
          }
        },
        seconds: 300,
      });
      const digests = [here, there].map((text) => text.match(DIGEST)?.[1]);
      const lines = [VERDICTS[digests[0] && digests[1] ? Number(digests[0] === digests[1]) : 2],
        `digest on the page ${digests[0] ?? 'none'}, on the board ${digests[1] ?? 'none'}`];
      const cycles = this.port.cycles - before;
      const seconds = cycles ? cycles / CLOCK : (performance.now() - began) / 1000;
      lines.push(`the board took ${seconds.toFixed(2)} s${cycles ? `, ${number(cycles)} cycles of the emulated chip` : ''
      }`);
      const [page, board] = [here, there].map((text) => [...losses(text).values()]);
      if (page.length && page.join() === board.join()) {
        lines.push(`the same curve, ${page.length} epochs`);
      }
      return `${lines.join('; ')}.${failed ? ` On the page: ${failed}` : ''}`;
    });
  }

  // Both losses by epoch; the board's as far as it has come.
  draw(here, there) {
    const [page, board] = [here, there].map(losses);
    const epochs = [...page.keys()];
    if (board.size && board.size !== this.drawn) {
      curves($('board-curves'), epochs, [
        ['loss on the page', [...page.values()], '--kind-a', 'loss'],
        ['loss on the board', epochs.map((epoch) => board.get(epoch) ?? null), '--kind-e', 'loss'],
      ]);
    }
    this.drawn = board.size;
  }

  say(text, wrong = false) {
    $('device').textContent = text;
    $('device').classList.toggle('wrong', wrong);
  }
}
