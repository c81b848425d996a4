// MicroPython's raw REPL with raw paste, over any port of Web Serial's shape: a real board's, or a virtual one's.

const encoder = new TextEncoder();
const CTRL_A = '\x01', CTRL_B = '\x02', CTRL_C = '\x03', CTRL_D = '\x04';
const PATIENCE = 5; // seconds for an answer that MicroPython gives at once

export class Board {
  // `onText` is given what the board sends while no script of exec() runs.
  constructor(port, onText = () => {}) {
    this.port = port;
    this.onText = onText;
    this.queue = [];
    this.waiting = null;
    this.listening = false; // whether exec() takes what comes
    this.gone = null;
  }

  async open() {
    await this.port.open({ baudRate: 115200 });
    await this.port.setSignals?.({ dataTerminalReady: true }); // Chromium leaves it low, and TinyUSB waits for it
    this.writer = this.port.writable.getWriter();
    this.reader = this.port.readable.getReader();
    this.pump();
  }

  async pump() {
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const { value, done } = await this.reader.read();
        if (done) {
          break;
        }
        if (this.listening) {
          this.queue.push(...value);
          this.waiting?.();
        } else {
          this.onText(decoder.decode(value, { stream: true }));
        }
      }
      this.gone = new Error('the board has gone: was the cable pulled?');
    } catch (error) {
      this.gone = new Error(`the board has gone: ${error.message}`);
    }
    this.waiting?.();
  }

  write(data) {
    return this.writer.write(typeof data === 'string' ? encoder.encode(data) : data);
  }

  // The next byte; an Error after `seconds`, or if the board has gone.
  async byte(seconds) {
    const end = performance.now() + 1000 * seconds;
    while (!this.queue.length) {
      if (this.gone) {
        throw this.gone;
      }
      const left = end - performance.now();
      if (left <= 0) {
        throw new Error(`the board says nothing for ${seconds} s: does MicroPython run there?`);
      }
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left);
        this.waiting = () => { clearTimeout(timer); resolve(); };
      });
      this.waiting = null;
    }
    return this.queue.shift();
  }

  // Text up to `end`; each part of it goes to onText, too.
  async until(end, seconds, onText = () => {}) {
    const bytes = [];
    const decoder = new TextDecoder();
    for (;;) {
      bytes.push(await this.byte(seconds));
      const last = bytes[bytes.length - 1];
      if (last !== 4) {
        onText(decoder.decode(Uint8Array.of(last), { stream: true }));
      }
      if (bytes.length >= end.length && String.fromCharCode(...bytes.slice(-end.length)) === end) {
        return new TextDecoder().decode(Uint8Array.from(bytes.slice(0, -end.length)));
      }
    }
  }

  // What a script prints; its traceback as an Error. `seconds`: the longest silence.
  async exec(script, { onText, seconds = 60 } = {}) {
    this.listening = true;
    this.queue.length = 0;
    try {
      await this.write(`\r${CTRL_C}${CTRL_C}`);
      await this.write(`\r${CTRL_A}`);
      await this.until('raw REPL; CTRL-B to exit\r\n>', PATIENCE);
      await this.paste(encoder.encode(script));
      await this.until(CTRL_D, seconds);
      const printed = await this.until(CTRL_D, seconds, onText);
      const failed = await this.until(`${CTRL_D}>`, seconds);
      if (failed) {
        throw new Error(failed.trim().split('\n').slice(-1)[0]);
      }
      return printed;
    } finally {
      await this.write(`\r${CTRL_B}`).catch(() => {});
      this.listening = false;
    }
  }

  // A soft reset: modules are forgotten, and the heap is empty. A main.py that does not end is stopped by exec().
  async restart() {
    this.listening = true;
    this.queue.length = 0;
    try {
      await this.write(`\r${CTRL_C}${CTRL_B}${CTRL_D}`);
      await this.until('soft reboot', PATIENCE);
      await this.until('>>> ', PATIENCE).catch(() => {});
    } finally {
      this.listening = false;
    }
  }

  // The board says how many bytes it takes at a time, and when it has taken as many.
  async paste(bytes) {
    await this.write('\x05A\x01');
    if (await this.byte(PATIENCE) !== 0x52 || await this.byte(PATIENCE) !== 1) {
      throw new Error('the board knows no raw paste: it needs MicroPython 1.14 or newer');
    }
    const window = await this.byte(PATIENCE) | await this.byte(PATIENCE) << 8;
    let left = window;
    for (let at = 0; at < bytes.length;) {
      while (!left || this.queue.length) {
        const answer = await this.byte(PATIENCE);
        if (answer === 1) {
          left += window;
        } else if (answer === 4) {
          await this.write(CTRL_D);
          throw new Error('the board stopped taking the script');
        }
      }
      const count = Math.min(left, bytes.length - at);
      await this.write(bytes.subarray(at, at + count));
      at += count;
      left -= count;
    }
    await this.write(CTRL_D);
  }

  async close() {
    this.gone = new Error('the port is closed');
    await this.reader.cancel().catch(() => {});
    this.reader.releaseLock();
    this.writer.releaseLock();
    await this.port.close?.();
  }
}
