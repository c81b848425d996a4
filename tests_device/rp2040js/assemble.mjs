// WebAssembly from words in postfix notation, a module per function.

const CODES = {
  '!': 0x45, '==': 0x46, '!=': 0x47, '<': 0x48, '<u': 0x49, '>': 0x4a, '>u': 0x4b, '<=': 0x4c, '<=u': 0x4d, '>=': 0x4e,
  '>=u': 0x4f, '+': 0x6a, '-': 0x6b, '*': 0x6c, '&': 0x71, '|': 0x72, '^': 0x73, '<<': 0x74, '>>': 0x75, '>>>': 0x76,
  rotated: 0x78, extend8: 0xc0, extend16: 0xc1, choose: 0x1b, unreachable: 0x00, return: 0x0f,
};
const MEMORY_CODES = {
  load32: [0x28, 2], load16: [0x2f, 1], load8: [0x2d, 0], loads16: [0x2e, 1], loads8: [0x2c, 0],
  store32: [0x36, 2], store16: [0x3b, 1], store8: [0x3a, 0],
};
const OPENING = { block: 2, loop: 3, if: 4 };
const I32 = 0x7f;

// Words whose code is always the same.
const KNOWN = new Map(Object.entries(CODES).map(([word, code]) => [word, [code]]));
KNOWN.set('else', [5]);
KNOWN.set('region', [0x11, 0, 0]); // a call by the table

export function unsigned(value) {
  const bytes = [];
  do {
    bytes.push((value & 127) | (value > 127 ? 128 : 0));
    value >>>= 7;
  } while (value);
  return bytes;
}

function signed(value) {
  const bytes = [];
  for (;;) {
    const byte = value & 127;
    value >>= 7;
    if (value === (byte & 64 ? -1 : 0)) {
      return [...bytes, byte];
    }
    bytes.push(byte | 128);
  }
}

export const vector = (items) => [...unsigned(items.length), ...items.flat()];
const named = (text) => vector([...text].map((letter) => letter.charCodeAt(0)));
const section = (id, items) => {
  const body = vector(items);
  return [id, ...unsigned(body.length), ...body];
};

// Types and imports of every module: the memory, the table of regions, slow reads and writes.
const TYPES = [
  [0x60, ...vector([I32]), ...vector([I32])], // a region, and what runs regions: block or address => address
  [0x60, ...vector(Array(6).fill(I32)), ...vector([I32])], // read
  [0x60, ...vector(Array(7).fill(I32)), ...vector([])], // write
];
const IMPORTS = [
  [...named('odt'), ...named('memory'), 2, 0, 1],
  [...named('odt'), ...named('regions'), 1, 0x70, 0, 0],
  [...named('odt'), ...named('read'), 0, 1],
  [...named('odt'), ...named('write'), 0, 2],
];

const BEFORE = [
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...section(1, TYPES), ...section(2, IMPORTS), ...section(3, [0]),
  ...section(7, [[...named('run'), 0, 2]]), 10,
];

// A module with one function, `run`, from parts of its body and how many variables it has beside its parameter.
export function assembled(variables, ...parts) {
  const all = [vector([[...unsigned(variables), I32]]), ...parts, [0x0b]];
  const size = all.reduce((sum, part) => sum + part.length, 0);
  const head = [...BEFORE, ...unsigned(size + unsigned(size).length + 1), 1, ...unsigned(size)];
  const module = new Uint8Array(head.length + size);
  let at = 0;
  for (const part of [head, ...all]) {
    module.set(part, at);
    at += part.length;
  }
  return module;
}

// Code as words in postfix notation: a number, a variable, =variable (set), :variable (set and kept), an operator,
// load32+OFFSET or the like, loop, block, if, else, end, to:LABEL.
export class Assembler {
  constructor(parameter) {
    this.variables = new Map([[parameter, 0]]);
    this.bytes = [];
    this.assigned = new Set();
    this.labels = []; // of what is open, the innermost last
  }

  variable(name) {
    if (!this.variables.has(name)) {
      this.variables.set(name, this.variables.size);
    }
    return unsigned(this.variables.get(name));
  }

  put(text) {
    for (const word of text.split(/\s+/)) {
      if (word) {
        this.word(word);
      }
    }
  }

  word(word) {
    const { bytes } = this;
    const known = KNOWN.get(word);
    if (known !== undefined) {
      bytes.push(...known);
    } else if (this.variables.has(word)) {
      bytes.push(0x20, ...this.variable(word));
    } else if (word[0] === '=' || word[0] === ':') {
      this.assigned.add(word.slice(1));
      bytes.push(word[0] === '=' ? 0x21 : 0x22, ...this.variable(word.slice(1)));
    } else if (word.startsWith('to:')) {
      bytes.push(0x0c, ...unsigned(this.labels.length - 1 - this.labels.lastIndexOf(word.slice(3))));
    } else {
      const [name, more] = word.split(/[@+:]/);
      if (name in OPENING) {
        bytes.push(OPENING[name], 0x40);
        this.labels.push(more || '');
      } else if (word === 'end') {
        bytes.push(0x0b);
        this.labels.pop();
      } else if (name in MEMORY_CODES || name === 'call' || /^-?\d+$/.test(word)) {
        const code = name in MEMORY_CODES ? [...MEMORY_CODES[name], ...unsigned(Number(more))]
          : name === 'call' ? [0x10, ...unsigned(Number(more))] : [0x41, ...signed(Number(word) | 0)];
        KNOWN.set(word, code);
        bytes.push(...code);
      } else {
        bytes.push(0x20, ...this.variable(word));
      }
    }
  }
}
