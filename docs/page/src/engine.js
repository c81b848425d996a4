// odt, as the page calls it: a worker, which is ended and started again where a script does not end.

export class Engine {
  constructor() {
    this.count = 0;
    this.starts = 0; // what Python knew is lost at each
    this.files = new Map(); // written again after a restart
    this.begin();
  }

  begin() {
    this.starts++;
    this.calls = new Map();
    this.worker = new Worker('worker.js', { type: 'module' });
    this.ready = new Promise((resolve, reject) => {
      this.worker.onerror = (event) => reject(new Error(event.message || 'the worker did not start'));
      this.worker.onmessage = ({ data }) => {
        if (data.ready) {
          resolve();
        } else if (data.failed) {
          reject(new Error(data.failed));
        } else {
          const done = this.calls.get(data.id);
          this.calls.delete(data.id);
          done(data);
        }
      };
    });
  }

  // The answer {result, printed, ms}; an Error after `seconds`, and then odt is started again.
  async send(message, seconds = 60, transfer = []) {
    await this.ready;
    const id = ++this.count;
    let timer;
    try {
      return await Promise.race([
        new Promise((resolve) => {
          this.calls.set(id, resolve);
          this.worker.postMessage({ id, ...message }, transfer);
        }),
        new Promise((_, reject) => {
          const late = new Error(`stopped after ${seconds} s: does the script loop?`);
          timer = setTimeout(() => reject(late), 1000 * seconds);
        }),
      ]);
    } catch (error) {
      this.worker.terminate();
      this.begin();
      for (const [name, bytes] of this.files) {
        await this.write(name, bytes);
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  // What a function of page.py returns; its exception as an Error.
  async call(name, options = {}, seconds) {
    const { result, ms } = await this.send({ call: name, with: options }, seconds);
    if (result.error) {
      throw new Error(result.error);
    }
    return { ...result, ms };
  }

  async write(name, bytes) {
    this.files.set(name, bytes);
    await this.send({ write: name, bytes });
  }

  // What a script prints; its exception as an Error.
  async script(text, seconds) {
    const { result, printed } = await this.send({ script: text }, seconds);
    if (result.error) {
      throw new Error(printed + result.error);
    }
    return printed;
  }
}
