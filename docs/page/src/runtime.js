// MicroPython with odt inside: of a worker on the page, and of Node in a test.

import { bind } from './binding.js';

const HEAP = 24 * 1024 * 1024;

// `files`: {name: Uint8Array} for MicroPython's file system; `load`: loadMicroPython; `wasm`: odt.wasm's bytes;
// `url`: of micropython.wasm; `print`: is given what scripts print.
export async function start({ load, url, wasm, files, print }) {
  const decoder = new TextDecoder();
  const micropython = await load({
    heapsize: HEAP,
    pystack: 64 * 1024,
    url,
    linebuffer: false,
    stdout: (bytes) => print(decoder.decode(bytes, { stream: true })),
  });
  const { FS } = micropython;
  function write(name, bytes) {
    const folders = name.split('/').slice(0, -1);
    for (let depth = 1; depth <= folders.length; depth++) {
      try {
        FS.mkdir('/' + folders.slice(0, depth).join('/'));
      } catch { /* it is there */ }
    }
    FS.writeFile('/' + name, bytes);
  }
  for (const [name, bytes] of Object.entries(files)) {
    write(name, bytes);
  }
  await bind(micropython, wasm);
  micropython.runPython("import sys\nsys.path.insert(0, '/')\nimport page");
  return {
    write,
    run: (code) => micropython.runPython(code),
    // A function of page.py: its arguments and its result go as JSON.
    call(name, options) {
      micropython.globals.set('request', JSON.stringify({ call: name, with: options }));
      micropython.runPython('answer = page.answer(request)');
      return JSON.parse(micropython.globals.get('answer'));
    },
  };
}

// odt.pack: a JSON object {name: bytes}, a newline, then the files' bytes in that order.
export function unpack(pack) {
  const end = pack.indexOf(10);
  const sizes = JSON.parse(new TextDecoder().decode(pack.subarray(0, end)));
  const files = {};
  let at = end + 1;
  for (const [name, size] of Object.entries(sizes)) {
    files[name] = pack.subarray(at, at + size);
    at += size;
  }
  return files;
}
