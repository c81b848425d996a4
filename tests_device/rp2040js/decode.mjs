// The instructions of a region of code, what is read of the flags after each, and values in assemble.mjs's words.

import { offset11, offset8 } from './core.mjs';

export const N = 1;
export const Z = 2;
export const C = 4;
export const V = 8;
const ALL = N | Z | C | V;

export const R = (i) => `r${i}`;
const low = (op, shift) => R((op >> shift) & 7);

// Conditions of a branch by their number: after a comparison of fa with fb, after a result fr, and by flags.
const COMPARED = [
  'fa fb ==', 'fa fb !=', 'fa fb >=u', 'fa fb <u', 'fa fb - 0 <', 'fa fb - 0 >=', null, null, 'fa fb >u', 'fa fb <=u',
  'fa fb >=', 'fa fb <', 'fa fb >', 'fa fb <=',
];
const RESULTED = ['fr !', 'fr', null, null, 'fr 0 <', 'fr 0 >='];
export const FLAGGED = [
  'z !', 'z', 'c', 'c !', 'n 0 <', 'n 0 >=', 'v 0 <', 'v 0 >=', 'c z 0 != &', 'c ! z ! |', 'n v ^ 0 >=', 'n v ^ 0 <',
  'z 0 != n v ^ 0 >= &', 'z ! n v ^ 0 < |',
];
const NEEDED = [Z, Z, C, C, N, N, V, V, C | Z, C | Z, N | V, N | V, ALL ^ C, ALL ^ C];

// An instruction: {at, op, size, cycles, sets, reads (flags), kind, ..}; kind is what the generator does with it.
function decode(code, at) {
  const op = code[at];
  const i = { at, op, size: 1, cycles: 1, sets: 0, reads: 0, kind: 'other' };
  const top = op >>> 8;
  const is = (kind, more) => Object.assign(i, { kind }, more);
  const three = op & 7;
  if (top < 0x18) {
    const shift = (op >> 6) & 31;
    const sets = N | Z | (top < 8 && !shift ? 0 : C);
    return is('shift', { way: top >> 3, shift, d: low(op, 0), m: low(op, 3), sets });
  }
  if (top < 0x20) {
    const b = top < 0x1c ? low(op, 6) : `${(op >> 6) & 7}`;
    return is('sum', { way: top & 2 ? '-' : '+', a: low(op, 3), b, d: R(three), sets: ALL });
  }
  if (top < 0x28) {
    return is('result', { d: low(op, 8), value: `${op & 255}`, sets: N | Z });
  }
  if (top < 0x40) {
    const r = low(op, 8);
    const way = top >= 0x30 && top < 0x38 ? '+' : '-';
    return is('sum', { way, a: r, b: `${op & 255}`, d: top < 0x30 ? null : r, sets: ALL });
  }
  if (top < 0x44) {
    const d = R(three);
    const m = low(op, 3);
    const way = (op >> 6) & 15;
    switch (way) {
      case 0: return is('result', { d, value: `${d} ${m} &`, sets: N | Z });
      case 1: return is('result', { d, value: `${d} ${m} ^`, sets: N | Z });
      case 2: case 3: case 4: case 7: return is('shiftby', { way, d, m, sets: ALL ^ V, reads: C });
      case 5: case 6: return is('carried', { d, m, inverted: way === 6, sets: ALL, reads: C });
      case 8: return is('result', { d: null, value: `${d} ${m} &`, sets: N | Z });
      case 9: return is('sum', { way: '-', a: '0', b: m, d, sets: ALL });
      case 10: return is('sum', { way: '-', a: d, b: m, d: null, sets: ALL });
      case 11: return is('sum', { way: '+', a: d, b: m, d: null, sets: ALL });
      case 12: return is('result', { d, value: `${d} ${m} |`, sets: N | Z });
      case 13: return is('result', { d, value: `${d} ${m} *`, sets: N | Z });
      case 14: return is('result', { d, value: `${d} ${m} -1 ^ &`, sets: N | Z });
      default: return is('result', { d, value: `${m} -1 ^`, sets: N | Z });
    }
  }
  const high = three | ((op >> 4) & 8);
  const m = (op >> 3) & 15;
  switch (top) {
    case 0x44: case 0x46:
      return is('high', { d: high, m, add: top === 0x44, cycles: high === 15 ? 2 : 1, leaves: high === 15 });
    case 0x45:
      return high === 15 ? is('other')
        : is('sum', { way: '-', a: R(high), b: m === 15 ? 'PC' : R(m), d: null, sets: ALL });
    case 0x47:
      return m === 15 ? is('other') : is('exchange', { m: R(m), link: Boolean(op & 0x80), cycles: 2, leaves: true });
    default:
  }
  if (top < 0x50) {
    return is('literal', { d: low(op, 8), cycles: 2 });
  }
  if (top < 0x60) {
    const way = (top >> 1) & 7; // STR STRH STRB LDRSB LDR LDRH LDRB LDRSH
    const bytes = [4, 2, 1, 1, 4, 2, 1, 2][way];
    return is('memory', {
      load: way > 2, bytes, signed: way === 3 || way === 7, t: R(three), address: `${low(op, 3)} ${low(op, 6)} +`,
      cycles: 2,
    });
  }
  if (top < 0x90) {
    const bytes = top < 0x70 ? 4 : top < 0x80 ? 1 : 2;
    const by = ((op >> 6) & 31) * bytes;
    const address = `${low(op, 3)} ${by} +`;
    return is('memory', { load: Boolean(op & 0x800), bytes, signed: false, t: R(three), address, cycles: 2 });
  }
  if (top < 0xa0) {
    return is('memory', {
      load: Boolean(op & 0x800), bytes: 4, signed: false, t: low(op, 8), address: `r13 ${(op & 255) << 2} +`, cycles: 2,
    });
  }
  if (top < 0xa8) {
    return is('plain', { d: low(op, 8), pc: (op & 255) << 2 });
  }
  if (top < 0xb0) {
    return is('plain', { d: low(op, 8), value: `r13 ${(op & 255) << 2} +` });
  }
  if (top === 0xb0) {
    return is('plain', { d: 'r13', value: `r13 ${(op & 0x7f) << 2} ${op & 0x80 ? '-' : '+'}` });
  }
  if (top === 0xb2) {
    const s = low(op, 3);
    const value = [`${s} extend16`, `${s} extend8`, `${s} 65535 &`, `${s} 255 &`][(op >> 6) & 3];
    return is('plain', { d: R(three), value });
  }
  if (top === 0xba && ((op >> 6) & 3) !== 2) {
    return is('reverse', { d: R(three), m: low(op, 3), way: (op >> 6) & 3 });
  }
  if ((top & 0xf6) === 0xb4) {
    const list = [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => op & (1 << bit));
    const more = op & 0x100;
    const load = top >= 0xbc;
    if (!list.length && !more) {
      return is('other');
    }
    const names = list.map(R);
    if (more && !load) {
      names.push('r14');
    }
    return is(load ? 'pop' : 'push', {
      names, leaves: Boolean(load && more), cycles: 1 + names.length + (load && more ? 3 : 0),
    });
  }
  if (top >= 0xc0 && top < 0xd0) {
    const list = [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => op & (1 << bit)).map(R);
    const d = low(op, 8);
    return list.length ? is(top < 0xc8 ? 'stm' : 'ldm', { names: list, d, cycles: 1 + list.length }) : is('other');
  }
  if (top >= 0xd0 && top < 0xde) {
    return is('branch', { condition: top & 15, target: at + 2 + offset8(op), reads: NEEDED[top & 15], ends: true });
  }
  if (top >= 0xe0 && top < 0xe8) {
    return is('go', { target: at + 2 + offset11(op), cycles: 2, ends: true });
  }
  if (top >= 0xf0 && top < 0xf8) {
    const op2 = code[at + 1];
    if ((op2 & 0xd000) === 0xd000) {
      const s = (op >> 10) & 1;
      const i1 = (op2 >> 13) & 1 ^ s ^ 1;
      const i2 = (op2 >> 11) & 1 ^ s ^ 1;
      const by = (-s << 24) | (i1 << 23) | (i2 << 22) | ((op & 0x3ff) << 12) | ((op2 & 0x7ff) << 1);
      return is('call', { size: 2, cycles: 3, by, leaves: true });
    }
    return op === 0xf3bf ? is('nothing', { size: 2, cycles: 3 }) : is('other');
  }
  return op === 0xbf00 ? is('nothing') : is('other');
}

// Of a region: the instructions of its blocks, in the order of their addresses.
export function blocks(code, first, end, longest) {
  const heads = new Set([first]);
  const found = new Map();
  const todo = [first];
  while (todo.length) {
    for (let at = todo.pop(); at >= 0 && at < end && !found.has(at) && found.size < longest;) {
      const i = decode(code, at);
      if (i.kind === 'other') {
        break;
      }
      found.set(at, i);
      const next = at + i.size;
      if (i.ends) {
        heads.add(i.target);
        todo.push(i.target);
      }
      if (i.kind === 'branch' || i.kind === 'call') {
        heads.add(next);
      }
      if (i.leaves && i.kind !== 'call' && !i.link || i.kind === 'go') {
        break;
      }
      if (i.leaves) {
        heads.add(next);
      }
      at = next;
    }
  }
  const all = [];
  for (const at of [...found.keys()].sort((a, b) => a - b)) {
    const last = all.length && all[all.length - 1];
    const before = last && last.list[last.list.length - 1];
    if (last && !heads.has(at) && before.at + before.size === at && !before.ends && !before.leaves) {
      last.list.push(found.get(at));
    } else {
      all.push({ at, list: [found.get(at)] });
    }
  }
  return all;
}

// Kinds within which a region may be left, flags and all.
const LEAVING = new Set(['memory', 'push', 'pop', 'stm', 'ldm']);

// What is read of the flags after each instruction; a branch that can read its operands reads none.
export function liveness(all, number) {
  for (const block of all) {
    const { list } = block;
    const last = list[list.length - 1];
    block.cycles = list.reduce((sum, i) => sum + i.cycles, 0);
    if (last.kind === 'branch') {
      const by = list.findLast((i) => i !== last && i.sets & last.reads);
      if (by && (by.sets & last.reads) === last.reads) {
        const sub = by.kind === 'sum' && by.way === '-' && COMPARED[last.condition];
        const result = RESULTED[last.condition];
        if (sub || result && (by.kind === 'result' || by.kind === 'sum' || by.kind === 'shift')) {
          by.keeps = sub ? 'operands' : 'result';
          last.test = sub || result;
          if (!list.slice(list.indexOf(by) + 1).some((i) => LEAVING.has(i.kind))) {
            last.reads = 0;
          }
        }
      }
    }
    const next = last.at + last.size;
    block.after = last.kind === 'go' ? [last.target] : last.leaves ? [-1]
      : last.kind === 'branch' ? [last.target, next] : [next];
    block.live = 0;
  }
  for (let changed = true; changed;) {
    changed = false;
    for (const block of all.toReversed()) {
      let live = block.after.reduce((sum, at) => sum | (number.has(at) ? all[number.get(at)].live : ALL), 0);
      for (const i of block.list.toReversed()) {
        i.live = live;
        live = live & ~i.sets | i.reads;
      }
      if (live !== block.live) {
        block.live = live;
        changed = true;
      }
    }
  }
}
