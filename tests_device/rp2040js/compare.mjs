// Random instructions one at a time on core.mjs, translate.mjs, rp2040js's own core, and on a model of the manuals;
// and random programs, by core.mjs with and without translate.mjs:
//
//   node compare.mjs [--seed 1] [--count 100000] [--programs 100]
//
// The model is the ARMv6-M Architecture Reference Manual's pseudocode (AddWithCarry, Shift_C, ...) in BigInt, and
// the cycles of the Cortex-M0+ Technical Reference Manual, table 3-1; of accesses by the RP2040's datasheet,
// 2.1.3 (APB) and 2.3.1 (SIO). Prints JSON: how many of each kind ran, and where a core was other than the model.

import { parseArgs } from 'node:util';
import { RP2040 } from 'rp2040js';
import { CycleClock } from './clock.mjs';
import { Runner, STATE_C, STATE_N, STATE_USED, STATE_V, STATE_Z } from './core.mjs';
import { Translating } from './translate.mjs';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100000' },
    programs: { type: 'string', default: '100' },
  },
});

// --- random numbers ---

let state = BigInt(options.seed) * 0x9e3779b97f4a7c15n + 1n;

function random(below) { // an integer, 0 <= it < below
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((state >> 33n) % BigInt(below));
}

const pick = (list) => list[random(list.length)];
const EDGES = [0, 1, 2, 31, 32, 33, 255, 256, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff];
const word = () => (random(3) ? (random(0x10000) * 0x10000 + random(0x10000)) >>> 0 : pick(EDGES));

// --- the machine ---

const CODE = 0x20000100;
const DATA = 0x20001000; // 1 KB in which all accesses to RAM lie
const SIO = 0xd0000000;
const SCRATCH = 0x4005800c; // the watchdog's eight words

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
console.warn = () => {};

function machine(Type) {
  const clock = new CycleClock();
  const chip = new RP2040(clock);
  clock.core = chip.core;
  chip.logger = quiet;
  chip.onBreak = () => {};
  const runner = Type ? new Type(chip, clock) : null;
  const step = Type ? () => runner.run(1) : () => chip.core.executeInstruction();
  return { chip, clock, core: chip.core, runner, step };
}

const odt = machine(Runner);
const plain = machine(null);
const translated = machine(Translating);
translated.runner.translator.longest = 1;
const TRANSLATED = 92 * 40; // trials: each is a module of WebAssembly
let interpreted = 0; // what is not translated

// One instruction as a region of its own, on its core's state.
translated.step = () => {
  const { core, runner: { translator, reg } } = translated;
  const { state } = translator;
  const at = reg[15];
  const base = at >>> 28 === 2 ? 0x20000000 : 0x10000000;
  translator.forget();
  translator.translate(base, (at - base) >> 1);
  state.set([core.N ? -1 : 0, core.Z ? 0 : 1, core.C ? 1 : 0, core.V ? -1 : 0, 0, 0, 1000]);
  translator.start = core.cycles;
  const next = translator.regions.length ? translator.run(at) : at;
  if (!translator.regions.length || (next === at && state[STATE_USED] === 0)) {
    interpreted++;
    translated.runner.run(1);
    return;
  }
  reg[15] = next;
  core.N = state[STATE_N] < 0;
  core.Z = state[STATE_Z] === 0;
  core.C = state[STATE_C] !== 0;
  core.V = state[STATE_V] < 0;
  core.cycles = translator.start + state[STATE_USED];
};

function load({ chip, core }, s) {
  core.registers.set(s.r);
  core.bankedSP = 0;
  core.N = s.n === 1n;
  core.Z = s.z === 1n;
  core.C = s.c === 1n;
  core.V = s.v === 1n;
  core.PM = core.waiting = core.interruptsUpdated = core.eventRegistered = false;
  core.cycles = 0;
  s.data.forEach((value, index) => chip.writeUint32(DATA + 4 * index, value));
  s.scratch.forEach((value, index) => chip.writeUint32(SCRATCH + 4 * index, value));
  s.flash.forEach((value, index) => chip.flashView.setUint32(4 * index, value, true));
  chip.writeUint16(s.r[15], s.op);
  chip.writeUint16(s.r[15] + 2, s.op2);
}

function read({ chip, core }) {
  const data = [...new Uint32Array(chip.sram.buffer, chip.sram.byteOffset + DATA - 0x20000000, 256)];
  const scratch = [];
  for (let index = 0; index < 8; index++) {
    scratch.push(chip.readUint32(SCRATCH + 4 * index) >>> 0);
  }
  return {
    registers: [...core.registers.slice(0, 15), core.registers[15] & ~1].join(),
    flags: [core.N, core.Z, core.C, core.V].map(Number).join(''),
    memory: data.concat(scratch).join(),
    cycles: core.cycles,
  };
}

// --- the manuals' model: changes a state, returns cycles ---

const M = 0xffffffffn;
const big = (x) => BigInt(x) & M;
const signed = (x) => BigInt.asIntN(32, x);

function addWithCarry(s, x, y, carry) { // A2.2.1
  const sum = x + y + carry;
  const result = sum & M;
  const exact = signed(x) + signed(y) + carry;
  s.n = result >> 31n;
  s.z = result === 0n ? 1n : 0n;
  s.c = sum === result ? 0n : 1n;
  s.v = exact === signed(result) ? 0n : 1n;
  return result;
}

function shiftC(s, kind, value, amount) { // A6.7, Shift_C
  const n = BigInt(amount);
  let result = value;
  if (n) {
    if (kind === 'lsl') {
      s.c = (value << n) >> 32n & 1n;
      result = (value << n) & M;
    } else if (kind === 'lsr') {
      s.c = (value >> (n - 1n)) & 1n;
      result = value >> n;
    } else if (kind === 'asr') {
      s.c = (signed(value) >> (n - 1n)) & 1n;
      result = (signed(value) >> n) & M;
    } else {
      const turn = n % 32n;
      result = ((value >> turn) | (value << (32n - turn))) & M;
      s.c = result >> 31n;
    }
  }
  return logical(s, result);
}

function logical(s, result) {
  s.n = result >> 31n;
  s.z = result === 0n ? 1n : 0n;
  return result;
}

function place(s, address) { // [the words there, the index of the word]
  if (address >= DATA && address < DATA + 0x400) {
    return [s.data, (address - DATA) >> 2];
  }
  if (address >= SCRATCH && address < SCRATCH + 32) {
    return [s.scratch, (address - SCRATCH) >> 2];
  }
  if (address >= 0x10000000 && address < 0x10000100) {
    return [s.flash, (address - 0x10000000) >> 2];
  }
  return [[], 0]; // SIO: only what changes nothing that is compared
}

function access(address, store) { // cycles of a load or store
  const region = address >>> 28;
  return region === 0xd ? 1 : region === 4 ? (store ? 5 : 4) : 2;
}

function get(s, address, size) {
  const [words, index] = place(s, address);
  const shift = 8 * (address & 3 & ~(size - 1));
  return Number((big(words[index] || 0) >> BigInt(shift)) & ((1n << BigInt(8 * size)) - 1n));
}

function put(s, address, size, value) {
  const [words, index] = place(s, address);
  if (!words.length) {
    return;
  }
  const shift = BigInt(8 * (address & 3 & ~(size - 1)));
  const mask = ((1n << BigInt(8 * size)) - 1n) << shift;
  words[index] = Number((big(words[index]) & ~mask) | ((big(value) << shift) & mask));
}

// Kinds of instructions: each draws one into s, and returns what the manuals say of it, a function of s.
// s: r (registers, r[15] its own address), n z c v (0n or 1n), data, scratch, flash (words), op, op2.

const low = () => random(8);
const set = (s, d, value) => {
  s.r[d] = Number(big(value));
};

function threeBits(s, top, make) { // Rd, Rn, 3 bits or Rm
  const [d, n, m] = [low(), low(), low()];
  s.op = (top << 9) | (m << 6) | (n << 3) | d;
  return () => (set(s, d, make(big(s.r[n]), m)), 1);
}

function twoLow(s, code, make) { // Rdn, Rm of 010000
  const [d, m] = [low(), low()];
  s.op = 0x4000 | (code << 6) | (m << 3) | d;
  return () => {
    const result = make(big(s.r[d]), big(s.r[m]));
    if (result !== undefined) {
      set(s, d, result);
    }
    return 1;
  };
}

function shifted(s, code, kind, zero) {
  const [d, m, imm] = [low(), low(), random(32)];
  s.op = (code << 11) | (imm << 6) | (m << 3) | d;
  return () => (set(s, d, shiftC(s, kind, big(s.r[m]), imm || zero)), 1);
}

function byRegister(s, code, kind) {
  s.r[random(8)] = pick([0, 1, 31, 32, 33, 64, 255, 256, 287]);
  return twoLow(s, code, (a, b) => shiftC(s, kind, a, Number(b & 255n)));
}

function imm8(s, code, make) {
  const [d, imm] = [low(), random(256)];
  s.op = (code << 11) | (d << 8) | imm;
  return () => {
    const result = make(big(s.r[d]), BigInt(imm));
    if (result !== undefined) {
      set(s, d, result);
    }
    return 1;
  };
}

function transfer(s, where, size, store, form, sign) {
  const t = low();
  const n = (t + 1 + random(7)) % 8;
  const base = { ram: DATA + 0x80, apb: SCRATCH, flash: 0x10000000 }[where];
  if (form === 'register') {
    const m = [0, 1, 2, 3, 4, 5, 6, 7].filter((x) => x !== n && x !== t)[random(6)];
    s.r[n] = base;
    s.r[m] = size * random(where === 'apb' ? 8 : 32 / size);
    const code = sign ? (size === 1 ? 3 : 7) : { 4: 0, 2: 1, 1: 2 }[size] + (store ? 0 : 4);
    s.op = 0x5000 | (code << 9) | (m << 6) | (n << 3) | t;
  } else {
    const imm = random(where === 'apb' ? 8 : 32);
    s.r[n] = base;
    s.op = ({ 4: 0x6000, 1: 0x7000, 2: 0x8000 }[size]) | (store ? 0 : 0x800) | (imm << 6) | (n << 3) | t;
  }
  const address = () => (form === 'register'
    ? (s.r[n] + s.r[(s.op >> 6) & 7]) >>> 0 : (s.r[n] + size * ((s.op >> 6) & 31)) >>> 0);
  return () => {
    const a = address();
    if (store) {
      put(s, a, size, s.r[t]);
    } else {
      const value = get(s, a, size);
      set(s, t, sign ? BigInt.asIntN(8 * size, BigInt(value)) : value);
    }
    return access(a, store);
  };
}

function transfers(size, forms, sign) {
  const out = {};
  for (const store of sign ? [false] : [false, true]) {
    for (const form of forms) {
      for (const where of ['ram', ...(size === 4 ? ['apb'] : []), ...(store ? [] : ['flash'])]) {
        const name = `${store ? 'str' : 'ldr'}${sign ? 's' : ''}${{ 4: '', 2: 'h', 1: 'b' }[size]} ${form} ${where}`;
        out[name] = (s) => transfer(s, where, size, store, form, sign);
      }
    }
  }
  return out;
}

function multiple(s, store, written) {
  const n = low();
  let list = 1 + random(255);
  // The base among the registers: if it is stored it has to be the first of them.
  list = store && written ? (list | (1 << n)) & (0xff << n) & 0xff : written ? list | (1 << n) : list & ~(1 << n);
  list ||= 1 << ((n + 1) % 8);
  s.r[n] = DATA + 0x80 + 4 * random(32);
  s.op = (store ? 0xc000 : 0xc800) | (n << 8) | list;
  return () => {
    let a = s.r[n];
    let count = 0;
    for (let i = 0; i < 8; i++) {
      if (list & (1 << i)) {
        if (store) {
          put(s, a, 4, s.r[i]);
        } else {
          s.r[i] = get(s, a, 4);
        }
        a += 4;
        count++;
      }
    }
    if (store || !(list & (1 << n))) {
      s.r[n] = a;
    }
    return 1 + count;
  };
}

function stack(s, pop, extra) {
  const list = extra ? random(256) : 1 + random(255);
  s.op = (pop ? 0xbc00 : 0xb400) | (extra ? 0x100 : 0) | list;
  if (pop && extra) {
    let at = (s.r[13] - DATA) >> 2;
    for (let i = 0; i < 8; i++) {
      at += (list >> i) & 1;
    }
    s.data[at] = CODE + 1 + 2 * random(100);
  }
  return () => {
    const chosen = [0, 1, 2, 3, 4, 5, 6, 7].filter((i) => list & (1 << i));
    const count = chosen.length + (extra ? 1 : 0);
    let a = pop ? s.r[13] : s.r[13] - 4 * count;
    s.r[13] = pop ? a + 4 * count : a;
    for (const i of chosen) {
      if (pop) {
        s.r[i] = get(s, a, 4);
      } else {
        put(s, a, 4, s.r[i]);
      }
      a += 4;
    }
    if (extra && pop) {
      s.pc = get(s, a, 4) & ~1;
    } else if (extra) {
      put(s, a, 4, s.r[14]);
    }
    return (extra && pop ? 3 : 1) + count;
  };
}

function high(s, code, make) { // ADD, CMP, MOV of any registers, but not of or to PC
  const d = random(15);
  let m = random(15);
  if (code === 1 && d < 8 && m < 8) {
    m = 8 + random(5);
  }
  s.op = 0x4400 | (code << 8) | ((d & 8) << 4) | (m << 3) | (d & 7);
  return () => {
    const result = make(big(s.r[d]), big(s.r[m]));
    if (result !== undefined) {
      set(s, d, d === 13 ? result & ~3n : result);
    }
    return 1;
  };
}

function toPC(s, code) { // ADD PC, Rm; MOV PC, Rm; BX, BLX Rm
  const m = random(13);
  const target = CODE + 2 * random(100);
  s.op = { add: 0x4487, mov: 0x4687, bx: 0x4700, blx: 0x4780 }[code] | (m << 3);
  s.r[m] = code === 'add' ? (target - s.r[15] - 4) >>> 0 : target | 1;
  return () => {
    s.pc = target;
    if (code === 'blx') {
      s.r[14] = (s.r[15] + 2) | 1;
    }
    return 2;
  };
}

function branch(s, cond) {
  const imm = random(256);
  s.op = 0xd000 | (cond << 8) | imm;
  return () => {
    const [n, z, c, v] = [s.n, s.z, s.c, s.v].map(Number);
    const base = [z, c, n, v, c && !z, n === v, n === v && !z][cond >> 1];
    if (!!base !== !!(cond & 1)) {
      s.pc = s.r[15] + 4 + 2 * Number(BigInt.asIntN(8, BigInt(imm)));
      return 2;
    }
    return 1;
  };
}

function extend(s, code, make) {
  const [d, m] = [low(), low()];
  s.op = code | (m << 3) | d;
  return () => (set(s, d, make(BigInt(s.r[m]))), 1);
}

const bytes = (x, order) => order.reduce((sum, from, to) => sum | (((x >> BigInt(8 * from)) & 255n) << BigInt(8 * to)), 0n);

const KINDS = {
  'lsls immediate': (s) => shifted(s, 0, 'lsl', 0),
  'lsrs immediate': (s) => shifted(s, 1, 'lsr', 32),
  'asrs immediate': (s) => shifted(s, 2, 'asr', 32),
  'adds register': (s) => threeBits(s, 0x0c, (a, m) => addWithCarry(s, a, big(s.r[m]), 0n)),
  'subs register': (s) => threeBits(s, 0x0d, (a, m) => addWithCarry(s, a, ~big(s.r[m]) & M, 1n)),
  'adds 3 bits': (s) => threeBits(s, 0x0e, (a, m) => addWithCarry(s, a, BigInt(m), 0n)),
  'subs 3 bits': (s) => threeBits(s, 0x0f, (a, m) => addWithCarry(s, a, ~BigInt(m) & M, 1n)),
  movs: (s) => imm8(s, 4, (a, i) => logical(s, i)),
  'cmp immediate': (s) => imm8(s, 5, (a, i) => void addWithCarry(s, a, ~i & M, 1n)),
  'adds 8 bits': (s) => imm8(s, 6, (a, i) => addWithCarry(s, a, i, 0n)),
  'subs 8 bits': (s) => imm8(s, 7, (a, i) => addWithCarry(s, a, ~i & M, 1n)),
  ands: (s) => twoLow(s, 0, (a, b) => logical(s, a & b)),
  eors: (s) => twoLow(s, 1, (a, b) => logical(s, a ^ b)),
  'lsls register': (s) => byRegister(s, 2, 'lsl'),
  'lsrs register': (s) => byRegister(s, 3, 'lsr'),
  'asrs register': (s) => byRegister(s, 4, 'asr'),
  adcs: (s) => twoLow(s, 5, (a, b) => addWithCarry(s, a, b, s.c)),
  sbcs: (s) => twoLow(s, 6, (a, b) => addWithCarry(s, a, ~b & M, s.c)),
  rors: (s) => byRegister(s, 7, 'ror'),
  tst: (s) => twoLow(s, 8, (a, b) => void logical(s, a & b)),
  rsbs: (s) => twoLow(s, 9, (a, b) => addWithCarry(s, ~b & M, 0n, 1n)),
  'cmp register': (s) => twoLow(s, 10, (a, b) => void addWithCarry(s, a, ~b & M, 1n)),
  cmn: (s) => twoLow(s, 11, (a, b) => void addWithCarry(s, a, b, 0n)),
  orrs: (s) => twoLow(s, 12, (a, b) => logical(s, a | b)),
  muls: (s) => twoLow(s, 13, (a, b) => logical(s, (a * b) & M)),
  bics: (s) => twoLow(s, 14, (a, b) => logical(s, a & ~b)),
  mvns: (s) => twoLow(s, 15, (a, b) => logical(s, ~b & M)),
  'add high': (s) => high(s, 0, (a, b) => (a + b) & M),
  'cmp high': (s) => high(s, 1, (a, b) => void addWithCarry(s, a, ~b & M, 1n)),
  'mov high': (s) => high(s, 2, (a, b) => b),
  'add to pc': (s) => toPC(s, 'add'),
  'mov to pc': (s) => toPC(s, 'mov'),
  bx: (s) => toPC(s, 'bx'),
  blx: (s) => toPC(s, 'blx'),
  'ldr literal': (s) => {
    const [t, imm] = [low(), random(256)];
    s.r[15] = DATA + 0x40 * random(2) + 2 * random(8);
    s.op = 0x4800 | (t << 8) | (imm & 0x7f);
    const a = (((s.r[15] + 4) & ~3) + 4 * (imm & 0x7f)) >>> 0;
    return () => ((s.r[t] = get(s, a, 4)), 2);
  },
  adr: (s) => {
    const [d, imm] = [low(), random(256)];
    s.op = 0xa000 | (d << 8) | imm;
    return () => (set(s, d, ((s.r[15] + 4) & ~3) + 4 * imm), 1);
  },
  'add of sp': (s) => {
    const [d, imm] = [low(), random(256)];
    s.op = 0xa800 | (d << 8) | imm;
    return () => (set(s, d, s.r[13] + 4 * imm), 1);
  },
  'add to sp': (s) => {
    const imm = random(128);
    s.op = 0xb000 | imm;
    return () => (set(s, 13, s.r[13] + 4 * imm), 1);
  },
  'sub from sp': (s) => {
    const imm = random(128);
    s.op = 0xb080 | imm;
    return () => (set(s, 13, s.r[13] - 4 * imm), 1);
  },
  'str sp': (s) => {
    const [t, imm] = [low(), random(32)];
    s.op = 0x9000 | (t << 8) | imm;
    return () => (put(s, s.r[13] + 4 * imm, 4, s.r[t]), 2);
  },
  'ldr sp': (s) => {
    const [t, imm] = [low(), random(32)];
    s.op = 0x9800 | (t << 8) | imm;
    return () => ((s.r[t] = get(s, s.r[13] + 4 * imm, 4)), 2);
  },
  ...transfers(4, ['register', 'immediate']), ...transfers(2, ['register', 'immediate']),
  ...transfers(1, ['register', 'immediate']), ...transfers(2, ['register'], true), ...transfers(1, ['register'], true),
  'sio load': (s) => { // CPUID, 0 on this core
    const t = low();
    const n = (t + 1) % 8;
    s.r[n] = SIO;
    s.op = 0x6800 | (n << 3) | t;
    return () => ((s.r[t] = 0), 1);
  },
  'sio store': (s) => { // GPIO_OUT
    const t = low();
    const n = (t + 1) % 8;
    s.r[n] = SIO + 0x10;
    s.op = 0x6000 | (n << 3) | t;
    return () => 1;
  },
  'divider operand': (s) => {
    const t = low();
    const n = (t + 1) % 8;
    s.r[n] = SIO + 0x60 + 4 * random(4);
    s.op = 0x6000 | (n << 3) | t;
    return () => 1;
  },
  sxth: (s) => extend(s, 0xb200, (x) => BigInt.asIntN(16, x)),
  sxtb: (s) => extend(s, 0xb240, (x) => BigInt.asIntN(8, x)),
  uxth: (s) => extend(s, 0xb280, (x) => x & 0xffffn),
  uxtb: (s) => extend(s, 0xb2c0, (x) => x & 0xffn),
  rev: (s) => extend(s, 0xba00, (x) => bytes(x, [3, 2, 1, 0])),
  rev16: (s) => extend(s, 0xba40, (x) => bytes(x, [1, 0, 3, 2])),
  revsh: (s) => extend(s, 0xbac0, (x) => BigInt.asIntN(16, bytes(x, [1, 0]))),
  push: (s) => stack(s, false, false),
  'push lr': (s) => stack(s, false, true),
  pop: (s) => stack(s, true, false),
  'pop pc': (s) => stack(s, true, true),
  stm: (s) => multiple(s, true, false),
  'stm of its base': (s) => multiple(s, true, true),
  ldm: (s) => multiple(s, false, false),
  'ldm of its base': (s) => multiple(s, false, true),
  'b conditional': (s) => branch(s, random(14)),
  b: (s) => {
    const imm = random(2048);
    s.op = 0xe000 | imm;
    return () => ((s.pc = s.r[15] + 4 + 2 * Number(BigInt.asIntN(11, BigInt(imm)))), 2);
  },
  bl: (s) => {
    const imm = Number(BigInt.asIntN(10, BigInt(random(1024)))); // halfwords
    const bits = BigInt.asUintN(24, BigInt(imm)); // S I1 I2 imm10 imm11
    const sign = Number(bits >> 23n);
    const j = [22n, 21n].map((at) => Number((bits >> at) & 1n) ^ sign ^ 1);
    s.op = 0xf000 | (sign << 10) | Number((bits >> 11n) & 0x3ffn);
    s.op2 = 0xd000 | (j[0] << 13) | (j[1] << 11) | Number(bits & 0x7ffn);
    return () => {
      s.r[14] = (s.r[15] + 4) | 1;
      s.pc = s.r[15] + 4 + 2 * imm;
      return 3;
    };
  },
  mrs: (s) => {
    const d = random(13);
    const [sysm, value] = pick([[0, null], [16, 0], [8, null], [20, 0]]);
    s.op = 0xf3ef;
    s.op2 = 0x8000 | (d << 8) | sysm;
    return () => {
      const flags = (s.n << 31n) | (s.z << 30n) | (s.c << 29n) | (s.v << 28n);
      set(s, d, value === null ? (sysm === 8 ? s.r[13] : flags) : value);
      s.pc = s.r[15] + 4;
      return 3;
    };
  },
  'msr apsr': (s) => {
    const n = random(13);
    s.op = 0xf380 | n;
    s.op2 = 0x8800;
    return () => {
      [s.n, s.z, s.c, s.v] = [31n, 30n, 29n, 28n].map((at) => (big(s.r[n]) >> at) & 1n);
      s.pc = s.r[15] + 4;
      return 3;
    };
  },
  barrier: (s) => {
    s.op = 0xf3bf;
    s.op2 = 0x8f4f + 16 * random(3);
    return () => ((s.pc = s.r[15] + 4), 3);
  },
  nop: (s) => {
    s.op = 0xbf00;
    return () => 1;
  },
};

// --- the comparison ---

const names = Object.keys(KINDS);
const result = { runs: {}, odt: {}, rp2040js: {}, translated: {} };

for (let trial = 0; trial < Number(options.count); trial++) {
  const name = names[trial % names.length];
  const s = { op: 0, op2: 0, r: [], data: [], scratch: [], flash: [] };
  for (let i = 0; i < 15; i++) {
    s.r.push(word());
  }
  s.r[13] = DATA + 0x100 + 4 * random(32);
  s.r.push(CODE + 0x800 + 2 * random(16));
  [s.n, s.z, s.c, s.v] = [0, 0, 0, 0].map(() => BigInt(random(2)));
  for (let i = 0; i < 256; i++) {
    s.data.push(word());
  }
  for (let i = 0; i < 8; i++) {
    s.scratch.push(word());
  }
  for (let i = 0; i < 64; i++) {
    s.flash.push(word());
  }
  const expect = KINDS[name](s);
  const at = s.r[15];
  for (const m of [odt, plain, translated]) {
    load(m, s);
  }
  if (at >= DATA) { // the code lies among the data
    const view = new Uint32Array(odt.chip.sram.buffer, DATA - 0x20000000, 256);
    s.data = [...view];
  }
  const cycles = expect();
  const wanted = {
    registers: [...s.r.slice(0, 15), s.pc ?? at + 2].join(),
    flags: [s.n, s.z, s.c, s.v].join(''),
    memory: s.data.concat(s.scratch).join(),
    cycles,
  };
  result.runs[name] = (result.runs[name] || 0) + 1;
  const cores = [['odt', odt], ['rp2040js', plain], ['translated', translated]];
  for (const [label, m] of trial < TRANSLATED ? cores : cores.slice(0, 2)) {
    m.step();
    const found = read(m);
    for (const part of Object.keys(wanted)) {
      if (found[part] !== wanted[part]) {
        const entry = `${name}: ${part}`;
        const seen = (result[label][entry] ||= { count: 0, off: [] });
        seen.count++;
        const off = part === 'cycles' ? found.cycles - cycles : `${found[part].slice(-60)} for ${wanted[part].slice(-60)}`;
        if (seen.off.length < 3 && !seen.off.includes(off)) {
          seen.off.push(off);
        }
      }
    }
  }
}

// --- programs ---

// Random code that stays within itself: r0 to r5 hold anything, r6 is DATA, r7 SIO.
function program() {
  const length = 20 + random(60);
  const code = [];
  while (code.length < length) {
    const kind = random(12);
    const anything = [random(6), random(6), random(6)];
    if (kind < 4) { // shifts, sums and moves of three and two registers and immediates
      const op = random(0x40) << 8 | random(256);
      const d = op >= 0x2000 ? (op >> 8) & 7 : op & 7;
      code.push(d < 6 ? op : 0x3000 | anything[0] << 8 | random(256));
    } else if (kind === 4) {
      code.push(0x4000 | random(16) << 6 | anything[1] << 3 | anything[0]);
    } else if (kind === 5) { // extensions, reversals
      code.push(pick([0xb200, 0xb240, 0xb280, 0xb2c0, 0xba00, 0xba40, 0xbac0]) | anything[1] << 3 | anything[0]);
    } else if (kind === 6) { // to and from DATA, by words, halfwords and bytes
      const op = pick([0x6000, 0x6800, 0x7000, 0x7800, 0x8000, 0x8800]);
      code.push(op | random(32) << 6 | 6 << 3 | anything[0]);
    } else if (kind === 7) { // what is not RAM: GPIO_OUT, CPUID
      code.push(random(2) ? 0x6000 | 4 << 6 | 7 << 3 | anything[0] : 0x6800 | 7 << 3 | anything[0]);
    } else if (kind === 8) { // PUSH, and POP of as many
      const list = 1 + random(63);
      code.push(0xb400 | list, 0xbc00 | list);
    } else if (kind === 9) {
      code.push(0x4000 | pick([2, 3, 4, 7]) << 6 | anything[1] << 3 | anything[0]);
    } else if (kind === 10 && code.length > 4) { // back, rarely taken for ever: the budget ends it
      code.push(0xd000 | random(14) << 8 | (-2 - random(Math.min(code.length - 2, 100))) & 255);
    } else {
      code.push(0xd000 | random(14) << 8 | random(4));
    }
  }
  for (let i = 0; i < 4; i++) { // where branches forward may end
    code.push(0x3001);
  }
  code.push(0xe000 | (-code.length - 2) & 0x7ff);
  return code;
}

function begin({ chip, clock, core, runner }, code, registers, data, flash) {
  const at = flash ? 0x10000400 : CODE;
  code.forEach((op, i) => (flash ? (chip.flash16[0x200 + i] = op) : chip.writeUint16(at + 2 * i, op)));
  data.forEach((value, index) => chip.writeUint32(DATA + 4 * index, value));
  core.registers.set(registers);
  core.registers[15] = at;
  core.N = core.Z = core.C = core.V = core.PM = core.waiting = core.interruptsUpdated = false;
  core.cycles = 0;
  clock.changed = registers[0] % 2 === 1; // whether an access to what is not RAM ends a run
  if (runner.translator) {
    runner.noted.fill(1);
    runner.translator.forget();
    runner.translator.hot = 3;
  }
}

const both = [machine(Runner), machine(Translating)];
result.programs = { run: 0, regions: 0, other: [] };
for (let trial = 0; trial < Number(options.programs); trial++) {
  const code = program();
  const registers = [0, 1, 2, 3, 4, 5].map(word).concat([DATA, SIO, 0, 0, 0, 0, 0, DATA + 0x380, 1]);
  const data = Array.from({ length: 256 }, word);
  both.forEach((m) => begin(m, code, registers, data, trial % 2));
  for (let part = 0; part < 40; part++) {
    const budget = 1 + random(300);
    both.forEach((m) => m.runner.run(budget));
    const [one, other] = both.map((m) => {
      const { registers: all, memory, cycles } = read(m); // flags: those that are read show in what follows
      return [all, memory, cycles].join(' ');
    });
    if (one !== other) {
      result.programs.other.push({ trial, part, code: code.map((op) => op.toString(16)).join(' ') });
      break;
    }
  }
  result.programs.run++;
  result.programs.regions += both[1].runner.translator.regions.length;
}
result.interpreted = interpreted;
console.log(JSON.stringify(result));
