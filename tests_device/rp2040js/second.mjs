// The second core of the emulated RP2040. Both run on one memory and one set of peripherals, in turns of at most TURN
// cycles; a turn ends where a core sends an event or a word, so the other one wakes at that cycle. Each has its own
// registers, interrupts, divider and interpolators. Not modelled: contention of the bus and of the flash's cache;
// interrupts other than the FIFO's come to the first core alone.

import { Fault, ROM_SIZE, Runner } from './core.mjs';

const TURN = 256;
const [CPUID, FIFO_ST, FIFO_WR, FIFO_RD] = [0x000, 0x050, 0x054, 0x058]; // of SIO
const PSM = 0x40010;
const FRCE_OFF = 0x04;
const PROC1 = 1 << 16;
const FIFO_DEPTH = 8;
const FIFO_IRQ = 15; // the first core's; the second's follows
const LAUNCH = [0, 0, 1]; // what the boot ROM waits for, then a vector table, a stack pointer and an entry
const REST = ROM_SIZE - 4; // where a core goes that returns from its entry: WFI, and a branch back to it
const REST_CODE = 0xe7fdbf30;

export class Second {
  constructor(chip, clock, first) {
    Object.assign(this, { chip, clock, first });
    this.fifos = [[], []]; // words for each core
    this.runner = null; // while the core runs a program
    this.said = []; // of LAUNCH and what follows
    chip.bootrom[REST >> 2] = REST_CODE;
    first.sendEvent = () => this.sendEvent();
    this.connect(chip.sio, chip.sio, 0);
    const psm = chip.peripherals[PSM];
    const write = psm.writeUint32.bind(psm);
    psm.writeUint32 = (offset, value) => {
      const was = psm.frceOff;
      write(offset, value);
      if (was & PROC1 && !(psm.frceOff & PROC1)) { // it starts, and says so
        this.send(0, 0);
      } else if (psm.frceOff & PROC1) {
        this.stop();
        this.fifos[0].length = this.fifos[1].length = 0;
      }
    };
  }

  // What core `me` reads and writes of SIO, by way of `own`.
  connect(sio, own, me) {
    const load = sio.readUint32;
    const store = sio.writeUint32;
    const [here, there] = [this.fifos[me], this.fifos[1 - me]];
    own.readUint32 = (offset) => {
      switch (offset) {
        case CPUID:
          return me;
        case FIFO_ST:
          return (here.length ? 1 : 0) | (there.length < FIFO_DEPTH ? 2 : 0);
        case FIFO_RD: {
          const word = here.shift() ?? 0;
          this.raise(me);
          return word;
        }
      }
      return load.call(own, offset);
    };
    own.writeUint32 = (offset, value) => {
      if (offset === FIFO_WR) {
        if (me === 0 && this.runner === null) {
          this.launch(value);
        } else {
          this.send(1 - me, value);
        }
      } else if (offset !== FIFO_ST) {
        store.call(own, offset, value);
      }
    };
  }

  send(to, word) {
    if (this.fifos[to].length < FIFO_DEPTH) {
      this.fifos[to].push(word);
      this.raise(to);
      this.clock.changed = true;
    }
  }

  raise(core) {
    const { core: found } = core === 0 ? this.first : this.runner ?? {};
    found?.setInterrupt(FIFO_IRQ + core, this.fifos[core].length > 0);
  }

  sendEvent() {
    for (const runner of [this.first, this.runner]) {
      if (runner?.waitsForEvent && runner.core.waiting) {
        runner.core.waiting = false;
      } else if (runner) {
        runner.core.eventRegistered = true;
      }
    }
    this.clock.changed = true;
  }

  // The boot ROM of the core that waits: each word is sent back; after one that it does not expect it waits for the
  // first again.
  launch(word) {
    const { said } = this;
    const isExpected = said.length >= LAUNCH.length || word === LAUNCH[said.length];
    this.said = isExpected ? [...said, word] : word === LAUNCH[0] ? [word] : [];
    this.send(0, word);
    if (this.said.length === LAUNCH.length + 3) {
      this.start(...this.said.slice(LAUNCH.length));
    }
  }

  start(vectors, stack, entry) {
    const { chip } = this;
    if (this.first.isAlone) {
      throw new Fault('the program starts the second core, which this machine does not have: the machine rp2040 does');
    }
    const view = Object.create(chip, { core: { writable: true }, sio: { writable: true }, ppb: { writable: true } });
    view.core = new chip.core.constructor(view);
    view.ppb = new chip.ppb.constructor(view, 'PPB1');
    // what a core has for itself becomes its own when it is first written; the rest is the chip's
    view.sio = Object.create(chip.sio);
    for (const name of Object.keys(chip.sio)) {
      if (/^(spinLock|gpio|qspi)/.test(name)) {
        Object.defineProperty(view.sio, name, {
          get: () => chip.sio[name], set: (value) => { chip.sio[name] = value; },
        });
      }
    }
    const { interp0, interp1 } = chip.sio;
    Object.assign(view.sio, { rp2040: view, interp0: new interp0.constructor(0), interp1: new interp1.constructor(1) });
    this.connect(Object.getPrototypeOf(chip.sio), view.sio, 1);
    const { core } = view;
    Object.assign(core, { VTOR: vectors, SP: stack, LR: REST | 1, PC: entry & ~1, cycles: this.first.core.cycles });
    this.said = [];
    this.runner = new Runner(view, this.clock);
    this.runner.noted = this.first.noted;
    this.runner.sendEvent = () => this.sendEvent();
    this.clock.changed = true;
  }

  stop() {
    this.runner = null;
    this.said = [];
  }

  get isAwake() {
    return this.runner !== null && !this.runner.core.waiting;
  }

  // The first core ran alone: what woke this one happened just now.
  catchUp() {
    const { runner } = this;
    if (runner !== null) {
      runner.core.cycles = this.first.core.cycles;
      runner.takeInterrupts();
    }
  }

  // A turn of both, of at most `budget` cycles. Where the first core waits, time passes with this one's cycles.
  turn(budget) {
    const { runner, first, clock } = this;
    const { core } = runner;
    const isWaiting = first.core.waiting;
    clock.changed = false;
    if (!isWaiting) {
      first.run(Math.min(budget, TURN));
    }
    const end = isWaiting ? first.core.cycles + Math.min(budget, TURN) : first.core.cycles;
    // unless the first core has just stopped this one
    while (this.runner === runner && core.cycles < end && !(isWaiting && clock.changed)) {
      if (core.interruptsUpdated) {
        runner.takeInterrupts();
      }
      if (core.waiting) {
        core.cycles = end;
        break;
      }
      clock.changed = false;
      runner.run(end - core.cycles);
    }
    if (isWaiting) {
      first.core.cycles = core.cycles;
    }
    if (this.runner === runner && core.waiting && core.PC >>> 0 >= REST && core.PC >>> 0 < ROM_SIZE) {
      this.stop();
    }
  }
}
