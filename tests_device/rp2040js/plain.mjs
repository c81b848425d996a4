// The instructions by rp2040js's own core, in place of core.mjs: several times slower, to compare with.
//
// Interrupts, time and peripherals are those of core.mjs's emulation, so that what differs is the
// instructions. Where rp2040js counts other cycles than the manuals (README.md), `off` sums up by how many.

import { Runner } from './core.mjs';

export class Plain extends Runner {
  constructor(chip, clock) {
    super(chip, clock);
    this.isAlone = true;
    this.off = { divider: 0, push: 0, pop: 0, exceptions: 0 };
  }

  // Its core counts nothing for entering an exception.
  takeInterrupts() {
    const { core } = this;
    const before = core.cycles;
    super.takeInterrupts();
    this.off.exceptions -= core.cycles - before;
    core.cycles = before;
  }

  run(budget) {
    const { core, clock, chip, off } = this;
    const end = core.cycles + budget;
    while (core.cycles < end && !core.waiting && !clock.changed) {
      if (core.interruptsUpdated) {
        this.takeInterrupts();
      }
      const op = chip.readUint16(core.PC & ~1);
      const before = core.cycles;
      const counted = core.executeInstruction();
      off.divider += core.cycles - before - counted;
      if (op >> 8 === 0xb5) {
        off.push -= 1;
      } else if (op >> 8 === 0xbd) {
        off.pop -= 1;
      }
    }
  }

  // Cycles as the manuals count them.
  get corrected() {
    const { divider, push, pop, exceptions } = this.off;
    return this.core.cycles - divider - push - pop - exceptions;
  }
}
