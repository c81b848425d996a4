// The virtual Pico as a port of Web Serial's shape, so that one client serves both.

import { bytesOf } from './dom.js';

export class VirtualPort {
  constructor() {
    this.cycles = 0;
  }

  async open() {
    const [bootrom, firmware] = await Promise.all(['bootrom.bin', 'firmware.uf2'].map(bytesOf));
    this.worker = new Worker('pico.js', { type: 'module' });
    let controller;
    this.readable = new ReadableStream({ start: (made) => { controller = made; } });
    this.writable = new WritableStream({ write: (bytes) => this.worker.postMessage({ send: bytes }) });
    await new Promise((resolve, reject) => {
      this.worker.onerror = (event) => reject(new Error(event.message));
      this.worker.onmessage = ({ data }) => {
        if (data.data) {
          this.cycles = data.cycles;
          controller.enqueue(data.data);
        } else if (data.connected) {
          resolve();
        } else if (data.stopped) {
          controller.error(new Error(data.stopped));
          reject(new Error(data.stopped));
        }
      };
      this.worker.postMessage({ bootrom, firmware });
    });
  }

  async close() {
    this.worker.terminate();
  }
}
