// Installs odt on a board by its REPL, as `odt install` does: what it lacks, if all of it fits, and then the self-test.

import { CRC, put } from './files.js';

const SPARE = 4; // blocks that a file system wants for itself
const FROZEN = `import sys
def odt_frozen():
    path = sys.path[:]
    try:
        sys.path[:] = [".frozen"]
        return __import__("odt").__version__
    except ImportError:
        return ""
    finally:
        sys.path[:] = path
        for odt_name in list(sys.modules):
            if odt_name.split(".")[0] == "odt":
                del sys.modules[odt_name]
`;
const SEEN = `${CRC}${FROZEN}
import json
odt_libs = [path for path in sys.path if path.endswith("/lib") and not path.startswith("/rom")]
odt_disk = os.statvfs(odt_libs[0][:-3]) if odt_libs else (0, 0, 0, 0)
print(json.dumps({"mpy": getattr(sys.implementation, "_mpy", 0), "libs": odt_libs, "block": odt_disk[0],
    "free": odt_disk[3], "frozen": odt_frozen()}))
`;

// The version of the odt in a board's firmware, "" without.
export async function firmware(board) {
  return (await board.exec(`${FROZEN}print(odt_frozen())`)).trim();
}

async function fetched(name) {
  const answer = await fetch(name);
  if (!answer.ok) {
    throw new Error(`${name} is not beside this page`);
  }
  return answer;
}

// The files for a board, with their places there; an Error that says why there are none.
function chosen(wanted, found) {
  if (found.frozen) {
    throw new Error(`odt ${found.frozen} is in the board's firmware: nothing to install`);
  }
  if (!found.libs.length) {
    throw new Error('the board has no file system with a folder lib');
  }
  const [version, sub, arch] = [found.mpy & 255, (found.mpy >> 8) & 3, (found.mpy >> 10) & 15];
  const kernels = wanted.kernels[arch];
  if (version !== wanted.mpy[0] || sub !== wanted.mpy[1] || !kernels) {
    throw new Error(`the board loads .mpy ${version}.${sub} of architecture ${arch}, these files are of ` +
      `${wanted.mpy.join('.')}, for ${Object.keys(wanted.kernels).join(', ')}: use odt install on a PC`);
  }
  const place = (row) => ({ ...row, to: found.libs[0] + row.to.slice('/lib'.length) });
  return [...kernels, ...wanted.package].map(place);
}

// The self-test's result in a type: bytes of heap that it left, or an Error.
async function tested(board, wanted, dtype) {
  await board.restart();
  const text = await board.exec(`dtypes = ["${dtype}"]\n${wanted.selftest}`, { seconds: 300 });
  const [, ran, digest, left] = text.match(/odt-test (\w+) \w+ ([0-9a-f]{8}) (\d+)/) ?? [];
  if (ran !== 'native' || digest !== wanted.digests[dtype]) {
    throw new Error(`the self-test in ${dtype} ended with ${digest ?? 'nothing'} (${ran ?? 'not run'}), ` +
      `expected ${wanted.digests[dtype]}`);
  }
  return Number(left);
}

async function copy(board, row) {
  await put(board, row.to, new Uint8Array(await (await fetched(row.from)).arrayBuffer()), row.crc);
}

// Returns what was done, as a sentence. `say` is told of the progress.
export async function install(board, say) {
  const wanted = await (await fetched('install.json')).json();
  await board.restart(); // an odt that was imported from files is no firmware's
  const found = JSON.parse(await board.exec(SEEN));
  const files = chosen(wanted, found);
  const crcs = JSON.parse(await board.exec(
    `print(json.dumps([odt_crc(path) for path in ${JSON.stringify(files.map((row) => row.to))}]))`));
  const lacking = files.filter((row, i) => crcs[i] !== row.crc);
  const blocks = lacking.reduce((sum, row) => sum + Math.ceil(row.size / found.block), 0);
  if (blocks > found.free - SPARE) {
    throw new Error(`the board's file system has room for ${Math.max(found.free - SPARE, 0)} blocks of ` +
      `${found.block} bytes, ${blocks} are needed: nothing was copied`);
  }
  for (const [i, row] of lacking.entries()) {
    say(`Copying ${row.to}, ${i + 1} of ${lacking.length} ...`);
    await copy(board, row);
  }
  try {
    say('The self-test ...');
    await tested(board, wanted, 'float32');
    const left = await tested(board, wanted, 'int8');
    return `odt ${wanted.version} is on the board: ${lacking.length} files copied, ${files.length - lacking.length} ` +
      `were there. Self-test passed in int8 and float32; ${left} bytes of heap left.`;
  } catch (error) {
    const kernels = files.filter((row) => /\/_odt\w*\.mpy$/.test(row.to)).map((row) => row.to);
    await board.restart();
    await board.exec(`import os\nfor path in ${JSON.stringify(kernels)}:\n    os.remove(path)`);
    throw new Error(`${error.message}: the kernels were removed`);
  }
}
