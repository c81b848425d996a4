// Emulated time, counted in the core's cycles: nothing ticks while instructions run.
//
// It offers what rp2040js's peripherals ask of a clock (nanos, micros, createAlarm) and tells the
// loop in chip.mjs how many cycles it may run until the next alarm.

class Alarm {
  constructor(clock, callback) {
    this.clock = clock;
    this.callback = callback;
    this.nanos = Infinity;
  }

  schedule(delta) {
    this.nanos = this.clock.nanos + Math.max(delta, 0);
    this.clock.reorder();
  }

  cancel() {
    this.nanos = Infinity;
    this.clock.reorder();
  }
}

export class CycleClock {
  constructor() {
    this.core = null; // set by its owner, once there is a core
    this.alarms = [];
    this.next = null; // the earliest alarm
    this.changed = false; // another alarm became the earliest
    this.baseNanos = 0;
    this.baseCycles = 0;
    this.nanosPerCycle = 8;
  }

  get nanos() {
    return this.core ? this.baseNanos + (this.core.cycles - this.baseCycles) * this.nanosPerCycle : 0;
  }

  get micros() {
    return this.nanos / 1000;
  }

  setFrequency(hertz) {
    this.skip(0);
    this.nanosPerCycle = 1e9 / hertz;
    this.changed = true;
  }

  // Lets time pass without the core: it sleeps.
  skip(nanos) {
    this.baseNanos = this.nanos + nanos;
    this.baseCycles = this.core.cycles;
  }

  createAlarm(callback) {
    const alarm = new Alarm(this, callback);
    this.alarms.push(alarm);
    return alarm;
  }

  reorder() {
    let next = null;
    for (const alarm of this.alarms) {
      if (alarm.nanos < (next ? next.nanos : Infinity)) {
        next = alarm;
      }
    }
    this.next = next;
    this.changed = true;
  }

  get nanosToNext() {
    return this.next ? this.next.nanos - this.nanos : Infinity;
  }

  get cyclesToNext() {
    return Math.ceil(this.nanosToNext / this.nanosPerCycle);
  }

  // Calls what is due, in the order of time.
  fire() {
    while (this.next && this.next.nanos <= this.nanos) {
      const alarm = this.next;
      alarm.nanos = Infinity;
      this.reorder();
      alarm.callback();
    }
    this.changed = false;
  }
}
