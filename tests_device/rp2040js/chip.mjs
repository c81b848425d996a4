// An RP2040 with a boot ROM, a flash image and a USB serial port, run by an event loop.
//
// Host side of the serial port: chip.send(bytes), chip.onData(bytes). A watchdog reset builds the
// chip anew and keeps its flash and the watchdog's scratch registers, as the real reset does.

import { RP2040, USBCDC } from 'rp2040js';
import { CycleClock } from './clock.mjs';
import { Fault } from './core.mjs';
import { Second } from './second.mjs';
import { Translating } from './translate.mjs';

const FLASH = 0x10000000;
const WATCHDOG = 0x40058;
const SCRATCH0 = 0x0c;
const TURN_MS = 10; // wall time between two looks at the socket
const IDLE_NANOS = 20e6; // emulated sleep per millisecond of wall time

const BREAKS = {
  1: 'an exception in the boot ROM',
  2: 'no second stage in flash',
  3: 'USB boot was asked for, which this boot ROM does not have',
  4: 'a function that this boot ROM does not have',
};

// UF2: blocks of 512 bytes, each with an address and up to 476 bytes for it.
export function loadUf2(data, flash, name = 'this') {
  const words = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let at = 0; at + 512 <= data.length; at += 512) {
    if (words.getUint32(at, true) !== 0x0a324655 || words.getUint32(at + 4, true) !== 0x9e5d5157) {
      throw new Error(`${name} is no UF2 file: block ${at / 512}`);
    }
    const address = words.getUint32(at + 12, true);
    const size = words.getUint32(at + 16, true);
    flash.set(data.subarray(at + 32, at + 32 + size), address - FLASH);
  }
}

export class Chip {
  // `core`: the class that runs instructions, a Runner.
  constructor(bootrom, flash, core = Translating) {
    this.core = core;
    this.bootrom = bootrom;
    this.flash = flash;
    this.onData = () => {};
    this.onMark = () => {};
    this.onStop = () => {};
    this.input = []; // bytes for the chip that no endpoint has taken yet
    this.inputSize = 0;
    this.pastCycles = 0; // of the chips before the last reset
    this.stopped = false;
    this.asleep = null; // the timer that ends a sleep
    this.build(null);
  }

  build(before) {
    const clock = new CycleClock();
    const chip = new RP2040(clock);
    clock.core = chip.core;
    chip.logger = { debug() {}, info() {}, warn() {}, error() {} };
    chip.loadBootrom(this.bootrom);
    chip.flash.set(this.flash); // after loadBootrom(), which erases it
    chip.addClockListener((hertz) => clock.setFrequency(hertz));
    chip.onBreak = (code) => {
      const pc = chip.core.PC;
      const why = (pc < 0x4000 && BREAKS[code]) || `breakpoint ${code}: a panic or a hard fault`;
      throw new Fault(`${why}, at 0x${pc.toString(16)}, LR 0x${chip.core.LR.toString(16)}`);
    };

    this.resetRequested = false;
    const watchdog = chip.peripherals[WATCHDOG];
    watchdog.onWatchdogTrigger = () => {
      this.resetRequested = true;
      clock.changed = true;
    };
    const write = watchdog.writeUint32.bind(watchdog);
    watchdog.writeUint32 = (offset, value) => {
      write(offset, value);
      if (offset === SCRATCH0) {
        this.onMark(value, this.cycles, this.runner.corrected);
      }
    };
    if (before) {
      const old = before.peripherals[WATCHDOG];
      watchdog.scratchData.set(old.scratchData);
      watchdog.reason = old.reason;
    }

    const cdc = new USBCDC(chip.usbCtrl);
    const answer = chip.usbCtrl.onEndpointRead;
    this.wanted = 0; // bytes that the chip's armed endpoint can take
    chip.usbCtrl.onEndpointRead = (endpoint, size) => {
      if (endpoint !== cdc.outEndpoint) {
        answer(endpoint, size);
        return;
      }
      this.wanted = size;
      this.feed();
    };
    cdc.onSerialData = (bytes) => this.onData(bytes);

    this.clock = clock;
    this.chip = chip;
    this.cdc = cdc;
    this.runner = new this.core(chip, clock);
    this.second = new Second(chip, clock, this.runner);
  }

  get cycles() {
    return this.pastCycles + this.chip.core.cycles;
  }

  get nanos() {
    return this.clock.nanos;
  }

  send(bytes) {
    this.input.push(bytes);
    this.inputSize += bytes.length;
    this.feed();
    if (this.asleep) { // it need not wait for the end of its millisecond
      clearTimeout(this.asleep);
      this.asleep = null;
      setImmediate(this.loop);
    }
  }

  // Answers an armed endpoint as soon as there is something to say, and never with nothing.
  feed() {
    if (!this.wanted || !this.inputSize) {
      return;
    }
    const packet = new Uint8Array(Math.min(this.wanted, this.inputSize));
    for (let at = 0; at < packet.length;) {
      const head = this.input[0];
      const part = head.subarray(0, packet.length - at);
      packet.set(part, at);
      at += part.length;
      if (part.length === head.length) {
        this.input.shift();
      } else {
        this.input[0] = head.subarray(part.length);
      }
    }
    this.inputSize -= packet.length;
    this.wanted = 0;
    this.chip.usbCtrl.endpointReadDone(this.cdc.outEndpoint, packet);
  }

  reset() {
    const before = this.chip;
    this.flash = before.flash;
    this.pastCycles += before.core.cycles;
    this.build(before);
  }

  // Runs for TURN_MS; true when the chip did little but sleep.
  turn() {
    const end = performance.now() + TURN_MS;
    let slept = 0;
    do {
      const { clock, runner, second } = this;
      const { core } = this.chip;
      clock.fire();
      if (core.interruptsUpdated || core.waiting) {
        runner.takeInterrupts();
      }
      if (second.isAwake) {
        second.turn(clock.cyclesToNext);
      } else if (core.waiting) {
        const nanos = Math.min(clock.nanosToNext, IDLE_NANOS);
        clock.skip(nanos);
        slept += nanos;
        if (slept >= IDLE_NANOS) {
          return true;
        }
        continue;
      } else {
        clock.changed = false;
        runner.run(Math.min(clock.cyclesToNext, 250000));
        second.catchUp();
      }
      if (this.resetRequested) {
        this.reset();
      }
    } while (performance.now() < end);
    return false;
  }

  start() {
    this.loop = () => {
      this.asleep = null;
      if (this.stopped) {
        return;
      }
      let idle;
      try {
        idle = this.turn();
      } catch (error) {
        this.stopped = true;
        this.onStop(error);
        return;
      }
      if (idle) {
        this.asleep = setTimeout(this.loop, 1);
      } else {
        setImmediate(this.loop);
      }
    };
    this.loop();
  }
}
