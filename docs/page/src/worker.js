// odt in a worker: {id, call, with} runs a function of page.py, {id, script} a script, {id, write, bytes} keeps a file.

import { loadMicroPython } from '@micropython/micropython-webassembly-pyscript/micropython.mjs';
import { bytesOf } from './dom.js';
import { start, unpack } from './runtime.js';

let printed = '';
const at = (name) => new URL(name, self.location.href).href;

async function main() {
  const [pack, wasm] = await Promise.all(['odt.pack', 'odt.wasm'].map((name) => bytesOf(at(name))));
  const odt = await start({
    load: loadMicroPython,
    url: at('micropython.wasm'),
    wasm,
    files: unpack(pack),
    print: (text) => { printed += text; },
  });
  self.onmessage = ({ data }) => {
    const began = performance.now();
    let result = {};
    printed = '';
    try {
      if (data.write) {
        odt.write(data.write, data.bytes);
      } else if (data.call) {
        result = odt.call(data.call, data.with);
      } else {
        odt.run(data.script);
      }
    } catch (error) {
      result = { error: String(error.message).trim().split('\n').slice(-1)[0], trace: String(error.message) };
    }
    self.postMessage({ id: data.id, result, printed, ms: performance.now() - began });
  };
  self.postMessage({ ready: true });
}

main().catch((error) => self.postMessage({ failed: String(error.message || error) }));
