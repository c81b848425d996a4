// The microphone, as examples/keyword has it: 8,000 samples a second, int16.

const RATE = 8000;
const REFUSED = {
  NotAllowedError: 'the browser was not allowed to use the microphone',
  NotFoundError: 'this device has no microphone',
  NotReadableError: 'the microphone is in use elsewhere',
};

// Starts it: onSamples(Int16Array) is given what comes. Returns what stops it; an Error that says why there is none.
export async function sound(onSamples) {
  if (!navigator.mediaDevices?.getUserMedia || typeof AudioWorkletNode === 'undefined') {
    throw new Error('this browser gives no microphone to this page: others do, over HTTPS or from localhost');
  }
  const audio = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const stream = await navigator.mediaDevices.getUserMedia({ audio }).catch((error) => {
    throw new Error(REFUSED[error.name] ?? `the microphone did not start: ${error.message}`);
  });
  const context = new AudioContext();
  const stop = () => {
    stream.getTracks().forEach((track) => track.stop());
    return context.close();
  };
  try {
    await context.audioWorklet.addModule(new URL('recorder.js', location.href));
    const slower = new Slower(context.sampleRate, RATE);
    const node = new AudioWorkletNode(context, 'recorder', { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => onSamples(slower.push(data));
    context.createMediaStreamSource(stream).connect(node);
    await context.resume();
    return stop;
  } catch (error) {
    await stop();
    throw new Error(`the microphone did not start: ${error.message}`);
  }
}

// Sound at a lower rate, in parts as they come: a sinc below the new rate's half, in a Hann window of 16 zeros.
export class Slower {
  constructor(from, to) {
    this.step = from / to;
    this.reach = 8 * Math.max(1, this.step);
    this.kept = new Float32Array(0); // from the place `first` on
    this.first = 0;
    this.at = 0; // of the next sample, in samples of what comes
  }

  // float32 of -1 to 1 in, int16 out.
  push(samples) {
    const all = new Float32Array(this.kept.length + samples.length);
    all.set(this.kept);
    all.set(samples, this.kept.length);
    const cutoff = 0.92 / Math.max(1, this.step); // of the old rate's half
    const made = [];
    for (; this.at + this.reach < this.first + all.length; this.at += this.step) {
      let sum = 0;
      const last = this.at + this.reach - this.first;
      for (let i = Math.max(0, Math.ceil(this.at - this.reach) - this.first); i <= last; i++) {
        const x = i + this.first - this.at;
        const angle = Math.PI * cutoff * x;
        const wave = angle === 0 ? 1 : Math.sin(angle) / angle;
        sum += all[i] * cutoff * wave * (0.5 + 0.5 * Math.cos(Math.PI * x / this.reach));
      }
      made.push(Math.max(-32768, Math.min(32767, Math.round(32767 * sum))));
    }
    const drop = Math.max(0, Math.floor(this.at - this.reach) - this.first);
    this.kept = all.slice(drop);
    this.first += drop;
    return Int16Array.from(made);
  }
}
