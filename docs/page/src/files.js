// Files of a board, by its REPL.

import { $, element, number } from './dom.js';

const CHUNK = 3072; // bytes of a file in a script
const LARGE = 1024 * 1024;
const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

// Python that the board keeps: odt_crc(path), -1 where there is no such file.
export const CRC = `
import binascii, os, sys
def odt_crc(path):
    try:
        crc = 0
        with open(path, "rb") as file:
            while True:
                data = file.read(1024)
                if not data:
                    return crc
                crc = binascii.crc32(data, crc)
    except OSError:
        return -1
`;
const LISTED = `
import json, os
odt_folders, odt_found = ["/"], []
while odt_folders and len(odt_found) < 200:
    odt_folder = odt_folders.pop()
    for odt_entry in os.ilistdir(odt_folder):
        odt_path = odt_folder + odt_entry[0]
        if odt_entry[1] & 0x4000:
            odt_folders.append(odt_path + "/")
        else:
            odt_found.append([odt_path, os.stat(odt_path)[6]])
print(json.dumps(sorted(odt_found)))
del odt_folders, odt_found
`;

// Writes a file beside the old one, which it replaces when it has come whole. After CRC.
export async function put(board, path, data, crc) {
  const folders = path.split('/').slice(1, -1).map((_, i, all) => `/${all.slice(0, i + 1).join('/')}`);
  const name = JSON.stringify(path);
  await board.exec(`for folder in ${JSON.stringify(folders)}:
    try:
        os.mkdir(folder)
    except OSError:
        pass
odt_file = open(${name} + ".new", "wb")`);
  for (let at = 0; at < data.length; at += CHUNK) {
    await board.exec(`_ = odt_file.write(binascii.a2b_base64("${base64(data.subarray(at, at + CHUNK))}"))`);
  }
  const found = await board.exec(`odt_file.close()\nprint(os.stat(${name} + ".new")[6], odt_crc(${name} + ".new"))`);
  const [size, came] = found.trim().split(' ').map(Number);
  if (size !== data.length || crc !== undefined && came !== crc) {
    throw new Error(`${path} came damaged: CRC-32 ${came}, expected ${crc}`);
  }
  await board.exec(`try:
    os.remove(${name})
except OSError:
    pass
os.rename(${name} + ".new", ${name})`);
}

// The list on the page. `busy(work)` does what takes a while, and says what it returns.
export class Files {
  constructor(busy) {
    this.busy = busy;
    $('board-file').addEventListener('change', (event) => {
      const [file] = event.target.files;
      event.target.value = '';
      if (file) {
        this.busy(() => this.copy(file));
      }
    });
  }

  async show(board) {
    this.board = board;
    const listed = await board.exec(LISTED).catch(async () => { // after a script that took most of the heap
      await board.restart();
      return board.exec(LISTED);
    });
    const found = JSON.parse(listed);
    $('board-files').replaceChildren(...found.map(([path, size]) => {
      const onclick = () => this.busy(() => this.remove(path));
      const button = element('button', { 'aria-label': `remove ${path}`, onclick }, 'Remove');
      return element('li', {}, `${path}, ${number(size)} bytes `, button);
    }));
    $('files').hidden = false;
  }

  async copy(file) {
    if (file.size > LARGE) {
      throw new Error(`${file.name} has ${number(file.size)} bytes, the page copies at most ${number(LARGE)}`);
    }
    await this.board.exec(CRC);
    await put(this.board, `/${file.name}`, new Uint8Array(await file.arrayBuffer()));
    await this.show(this.board);
    return `${file.name} is on the board.`;
  }

  async remove(path) {
    await this.board.exec(`import os\nos.remove(${JSON.stringify(path)})`);
    await this.show(this.board);
    return `${path} was removed.`;
  }
}
