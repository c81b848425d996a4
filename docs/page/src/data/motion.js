// The accelerometer of a phone, as examples/gesture has it: x, y and z, 100 a second, int16, 16384 to 1 g.

const RATE = 100;
const GRAVITY = 9.80665;
const PATIENCE = 2000; // ms until a device without a sensor is found out

// Starts it: onSamples(Int16Array) is given what comes. Returns what stops it; an Error that says why there is none.
export async function motion(onSamples) {
  if (typeof DeviceMotionEvent === 'undefined' || !isSecureContext) {
    throw new Error('this browser gives no accelerometer to this page: a phone does, over HTTPS');
  }
  if (DeviceMotionEvent.requestPermission && await DeviceMotionEvent.requestPermission() !== 'granted') {
    throw new Error('the browser was not allowed to use the accelerometer');
  }
  const even = new Even(onSamples);
  let seen;
  const heard = (event) => {
    const { x, y, z } = event.accelerationIncludingGravity ?? {};
    if (x != null && y != null && z != null) {
      seen?.();
      even.push(event.timeStamp, [x, y, z]);
    }
  };
  addEventListener('devicemotion', heard);
  const stop = () => removeEventListener('devicemotion', heard);
  const came = await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), PATIENCE);
    seen = () => { clearTimeout(timer); resolve(true); };
  });
  if (!came) {
    stop();
    throw new Error('this device sends no motion: it has no accelerometer, or the browser keeps it back');
  }
  return stop;
}

// Samples as they come, at any rate, become samples at RATE: on the line between two.
export class Even {
  constructor(onSamples) {
    this.onSamples = onSamples;
    this.last = null;
  }

  // `at`: ms.
  push(at, values) {
    if (!this.last || at - this.last.at > 500) { // the first, or after a gap
      this.next = at;
    } else if (at > this.last.at) {
      const made = [];
      for (; this.next <= at; this.next += 1000 / RATE) {
        const share = (this.next - this.last.at) / (at - this.last.at);
        made.push(...values.map((value, axis) => {
          const between = this.last.values[axis] + share * (value - this.last.values[axis]);
          return Math.max(-32768, Math.min(32767, Math.round(between * 16384 / GRAVITY)));
        }));
      }
      if (made.length) {
        this.onSamples(Int16Array.from(made));
      }
    }
    this.last = { at, values };
  }
}
