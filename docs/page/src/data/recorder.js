// In the audio thread: gives the page what the microphone hears, 20 ms or more at a time.

const ENOUGH = sampleRate / 50;

class Recorder extends AudioWorkletProcessor {
  constructor() {
    super();
    this.parts = [];
    this.count = 0;
  }

  process([[samples]]) {
    if (samples) {
      this.parts.push(samples.slice());
      this.count += samples.length;
    }
    if (this.count >= ENOUGH) {
      const all = new Float32Array(this.count);
      let at = 0;
      for (const part of this.parts) {
        all.set(part, at);
        at += part.length;
      }
      this.port.postMessage(all, [all.buffer]);
      this.parts = [];
      this.count = 0;
    }
    return true;
  }
}

registerProcessor('recorder', Recorder);
