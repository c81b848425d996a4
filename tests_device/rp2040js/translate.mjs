// Translates code of the Cortex-M0+ that core.mjs runs often into WebAssembly: the same results, the same cycles.
//
// A region is what direct branches reach from the target of a hot jump: mostly a function. It becomes a function of
// WebAssembly, a switch over its blocks, in which registers and flags are local variables. A block runs only if its
// cycles fit the budget that core.mjs was given. A region ends where interrupts may be taken, and before an instruction
// that does more than compute, load, store and jump. So an interrupt comes at the same instruction with and without
// this file; only flags that nothing reads again may differ in what an exception stacks.
//
// Code in flash is translated once; a store to a page with translated code forgets all of it. Code in RAM is compared
// with what was translated, before it is run, when something was stored beside it.

import { assembled, Assembler, unsigned, vector } from './assemble.mjs';
import {
  ATTEND, FLASH, FLASH_SIZE, INTERPRET, JUMPED, PAGE, RAM, RAM_SIZE, ROM_SIZE, Runner, STATE_C, STATE_LIMIT, STATE_N,
  STATE_RESULT, STATE_USED, STATE_V, STATE_Z, STORED,
} from './core.mjs';
import { blocks, C, FLAGGED, liveness, N, R, V, Z } from './decode.mjs';

const TRANSLATED = 0x200000; // bytes of the flash in which code may lie
const HOT = 4000; // jumps to an address before it is translated
const LONGEST = 320; // instructions of a region
const FLASH_PAGE = 12;
const BLOCKS = 10; // bits for the number of a block

// The memory that WebAssembly and the chip share.
const NOTED = RAM_SIZE; // a byte per page of RAM: stored to
const REGISTERS = 0x44000;
const STATE = REGISTERS + 64;
const RAM_HEAT = 0x45000; // a word per halfword: jumps to it, or -1 - (region << BLOCKS | block)
const ROM_HEAT = 0xd0000;
const FLASH_HEAT = 0x100000;
const FLASH_AT = FLASH_HEAT + 2 * TRANSLATED;
const MEMORY = FLASH_AT + FLASH_SIZE;

const [SN, SZ, SC, SV, SUSED, SRESULT, SLIMIT] = [
  STATE_N, STATE_Z, STATE_C, STATE_V, STATE_USED, STATE_RESULT, STATE_LIMIT,
].map((word) => STATE + 4 * word);

// Carry and overflow of arithmetic by its operands a, b and result r.
const CARRY = { '+': 'r a <u', '-': 'a b >=u' };
const OVERFLOW = { '+': 'a r ^ b r ^ &', '-': 'a b ^ a r ^ &' };

const READ = 0; // of the imported functions: assemble.mjs
const WRITE = 1;

class Writer extends Assembler {
  constructor(base, all, number, words) {
    super('k');
    Object.assign(this, { base, all, number, words }); // words: of the flash, null for code in RAM
  }

  address(at) {
    return this.base + 2 * at;
  }

  // Out of the region, to an address or what a variable holds.
  leave(to, used, result) {
    return `used ${used} + =used ${to} =to ${result} =result to:out`;
  }

  // To a block of the region or out of it.
  goto(at, used) {
    const k = this.number.get(at);
    if (k === undefined) {
      return this.leave(this.address(at), used, JUMPED);
    }
    return `used ${used} + =used ${k === this.k ? 'to:self' : k > this.k ? `to:b${k}` : `${k} =k to:top`}`;
  }

  write() {
    const { all } = this;
    this.put('block@out loop@top');
    for (let k = all.length - 1; k >= 0; k--) {
      this.put(`block@b${k}`);
    }
    this.put('k');
    this.bytes.push(0x0e, ...vector(all.map((_, k) => unsigned(k))), 0);
    all.forEach((block, k) => this.block(block, k));
    this.put('unreachable end end');
    return this.bytes;
  }

  block(block, k) {
    const last = block.list[block.list.length - 1];
    const total = block.cycles + (last.kind === 'branch' ? 1 : 0);
    Object.assign(this, { k, total, used: 0 });
    this.put('end loop@self');
    this.put(`used limit ${total} - > if ${this.leave(this.address(block.at), 0, INTERPRET)} end`);
    for (const i of block.list) {
      this.pc = this.address(i.at) + 4;
      this[i.kind](i);
      this.used += i.cycles;
    }
    if (!last.ends && !last.leaves) {
      this.put(this.goto(last.at + last.size, this.used));
    }
    this.put('end');
  }

  nothing() {}

  go(i) {
    this.put(this.goto(i.target, this.used + 2));
  }

  branch(i) {
    this.put(`${i.test || FLAGGED[i.condition]} if ${this.goto(i.target, this.used + 2)} end`);
    this.put(this.goto(i.at + 1, this.used + 1));
  }

  flags(i, result) {
    if (i.keeps === 'result') {
      this.put(`${result} =fr`);
    }
    if (i.live & N) {
      this.put(`${result} =n`);
    }
    if (i.live & Z) {
      this.put(`${result} =z`);
    }
  }

  shift(i) {
    const { way, shift, d, m } = i;
    this.put(`${m} =a`);
    if (i.live & i.sets & C) {
      this.put(`a ${way === 0 ? 32 - shift : (shift || 32) - 1} >>> 1 & =c`);
    }
    this.put([`a ${shift} <<`, shift ? `a ${shift} >>>` : '0', `a ${shift || 31} >>`][way]);
    this.put(`=${d}`);
    this.flags(i, d);
  }

  sum(i) {
    this.put(`${i.a} =a ${i.b === 'PC' ? this.pc : i.b} =b a b ${i.way} =r`);
    if (i.keeps === 'operands') {
      this.put('a =fa b =fb');
    }
    this.flags(i, 'r');
    if (i.live & C) {
      this.put(`${CARRY[i.way]} =c`);
    }
    if (i.live & V) {
      this.put(`${OVERFLOW[i.way]} =v`);
    }
    if (i.d) {
      this.put(`r =${i.d}`);
    }
  }

  result(i) {
    this.put(`${i.value} =${i.d || 'r'}`);
    this.flags(i, i.d || 'r');
  }

  shiftby(i) {
    const { way, d, m } = i;
    this.put(`${d} =a ${m} 255 & =b`);
    if (way === 7) {
      this.put(`a b rotated =${d}`);
      if (i.live & C) {
        this.put(`b if ${d} 31 >>> =c end`);
      }
    } else {
      if (i.live & C) {
        this.put(`b if ${{
          2: 'a 32 b - >>> 1 & 0 b 33 <u choose',
          3: 'a b 1 - >>> 1 & 0 b 33 <u choose',
          4: 'a b 1 - 31 b 32 <u choose >>> 1 &',
        }[way]} =c end`);
      }
      this.put({ 2: 'a b << 0 b 32 <u choose', 3: 'a b >>> 0 b 32 <u choose', 4: 'a b 31 b 32 <u choose >>' }[way]);
      this.put(`=${d}`);
    }
    this.flags(i, d);
  }

  carried(i) {
    this.put(`${i.d} =a ${i.m} ${i.inverted ? '-1 ^' : ''} =b a b + =o o c + =r`);
    if (i.live & C) {
      this.put('o a <u r o <u | =c');
    }
    if (i.live & V) {
      this.put(`${OVERFLOW['+']} =v`);
    }
    this.put(`r =${i.d}`);
    this.flags(i, 'r');
  }

  high(i) {
    const m = i.m === 15 ? this.pc : R(i.m);
    const value = i.add ? `${i.d === 15 ? this.pc : R(i.d)} ${m} +` : m;
    if (i.d === 15) {
      this.jump(i, value);
    } else {
      this.put(`${value} ${i.d === 13 ? '-4 &' : ''} =${R(i.d)}`);
    }
  }

  // Out of the region, to an address; the end of a handler is the interpreter's.
  jump(i, value, before = '') {
    this.put(`${value} =r r 28 >>> 15 == if ${this.leave(this.address(i.at), this.used, INTERPRET)} end`);
    this.put(`${before} ${this.leave('r -2 &', this.used + i.cycles, JUMPED)}`);
  }

  exchange(i) {
    this.jump(i, i.m, i.link ? `${(this.pc - 2) | 1} =r14` : '');
  }

  call(i) {
    this.put(`${this.pc | 1} =r14 ${this.leave((this.pc + i.by) | 0, this.used + i.cycles, JUMPED)}`);
  }

  literal(i) {
    const at = (this.pc & ~3) + ((i.op & 255) << 2) - this.base;
    this.put(`${this.words ? this.words[at >> 2] : `0 load32+${at}`} =${i.d}`);
  }

  memory(i) {
    const { bytes, t, load } = i;
    const inside = (size) => `${size} <u ${bytes === 1 ? '' : `o ${bytes - 1} & ! &`}`;
    const width = `${i.signed ? 's' : ''}${8 * bytes}`;
    const consts = `used ${this.used + 1} ${this.address(i.at + 1)} ${this.total}`;
    const after = `0 load32+${SUSED} =used 0 load32+${SRESULT} :result
      if used ${this.used + i.cycles} + =used ${this.address(i.at + 1)} =to to:out end`;
    this.put(`${i.address} ${RAM} - :o ${inside(RAM_SIZE)} if`);
    if (load) {
      this.put(`o load${width}+0 =${t} else o ${RAM - FLASH} + :o ${inside(FLASH_SIZE)} if`);
      this.put(`o load${width}+${FLASH_AT} =${t}`);
      this.put(`else 0 r14 store32+${REGISTERS + 56} o ${FLASH} + ${bytes} ${consts} call:${READ}`);
      this.put(`${i.signed ? `extend${8 * bytes}` : ''} =${t} ${after} end end`);
    } else {
      this.put(`o ${t} store${width}+0 o ${PAGE} >>> 1 store8+${NOTED}`);
      this.put(`else 0 r14 store32+${REGISTERS + 56} o ${RAM} + ${t} ${bytes} ${consts} call:${WRITE} ${after} end`);
    }
  }

  plain(i) {
    this.put(`${i.value === undefined ? (this.pc & ~3) + i.pc : i.value} =${i.d}`);
  }

  reverse(i) {
    this.put(`${i.m} =r r 16711935 & 8 << r 8 >>> 16711935 & | =a`);
    this.put(`${['a 16 rotated', 'a', '', 'a 16 << 16 >>'][i.way]} =${i.d}`);
  }

  // `o`: where several words lie, all in RAM; else the instruction is the interpreter's.
  several(i, address, count) {
    this.put(`${address} ${RAM} - :o ${RAM_SIZE - 4 * count} >u o 3 & |
      if ${this.leave(this.address(i.at), this.used, INTERPRET)} end`);
  }

  stored(names) {
    names.forEach((name, k) => this.put(`o ${name} store32+${4 * k}`));
    this.put(`o ${PAGE} >>> 1 store8+${NOTED} o ${4 * names.length - 4} + ${PAGE} >>> 1 store8+${NOTED}`);
  }

  loaded(names) {
    return names.map((name, k) => `o load32+${4 * k} =${name}`).join(' ');
  }

  push(i) {
    const size = 4 * i.names.length;
    this.several(i, `r13 ${size} -`, i.names.length);
    this.stored(i.names);
    this.put(`r13 ${size} - =r13`);
  }

  pop(i) {
    const count = i.names.length + (i.leaves ? 1 : 0);
    this.several(i, 'r13', count);
    const rest = `${this.loaded(i.names)} r13 ${4 * count} + =r13`;
    if (i.leaves) {
      this.jump(i, `o load32+${4 * i.names.length}`, rest);
    } else {
      this.put(rest);
    }
  }

  stm(i) {
    this.several(i, i.d, i.names.length);
    this.stored(i.names);
    this.put(`${i.d} ${4 * i.names.length} + =${i.d}`);
  }

  ldm(i) {
    this.several(i, i.d, i.names.length);
    if (!i.names.includes(i.d)) {
      this.put(`${i.d} ${4 * i.names.length} + =${i.d}`);
    }
    this.put(this.loaded(i.names));
  }
}

// The module of a region. `pages`: of RAM, with its code.
function region(base, all, number, words, pages) {
  const writer = new Writer(base, all, number, words);
  const body = writer.write();
  const names = [...writer.variables.keys()];
  const kept = names.filter((name) => /^(r\d+|[nzcv])$/.test(name));
  const place = { n: SN, z: SZ, c: SC, v: SV };
  const at = (name) => place[name] || REGISTERS + 4 * Number(name.slice(1));
  const begin = new Assembler('k');
  names.forEach((name) => begin.variable(name));
  if (pages.length) {
    const noted = pages.map((page) => `0 load8+${NOTED + page}`);
    begin.put(`${noted.join(' ')} ${'| '.repeat(pages.length - 1)} if 0 ${STORED} store32+${SRESULT} 0 return end`);
  }
  begin.put(`0 load32+${SUSED} =used 0 load32+${SLIMIT} =limit`);
  kept.forEach((name) => begin.put(`0 load32+${at(name)} =${name}`));
  const end = new Assembler('k');
  begin.variables.forEach((_, name) => end.variable(name));
  end.put(`0 used store32+${SUSED} 0 result store32+${SRESULT}`);
  kept.filter((name) => writer.assigned.has(name)).forEach((name) => end.put(`0 ${name} store32+${at(name)}`));
  end.put('to');
  return assembled(end.variables.size - 1, begin.bytes, body, end.bytes);
}

// What runs regions, one after the other, from an address on.
function dispatcher() {
  const code = new Assembler('pc');
  code.put(`loop@on pc ${FLASH} - :o ${TRANSLATED} <u if o 1 << load32+${FLASH_HEAT} =entry
    else pc ${RAM} - :o ${RAM_SIZE} <u if o 1 << load32+${RAM_HEAT} =entry
    else pc ${ROM_SIZE} >=u if pc return end pc 1 << load32+${ROM_HEAT} =entry end end
    entry 0 >= if pc return end
    -1 entry - :entry ${(1 << BLOCKS) - 1} & entry ${BLOCKS} >>> region =to
    0 load32+${SRESULT} :result if result ${STORED} == if pc return end to return end
    to =pc 0 load32+${SUSED} 0 load32+${SLIMIT} < if to:on end
    end pc`);
  return assembled(code.variables.size - 1, code.bytes);
}

// A chip whose RAM, flash and registers lie in the shared memory.
function shared(chip, memory) {
  const move = (old, Type, at) => {
    const view = new Type(memory.buffer, at, old.length);
    view.set(old);
    return view;
  };
  chip.sram = move(chip.sram, Uint8Array, 0);
  chip.sramView = new DataView(memory.buffer, 0, RAM_SIZE);
  chip.flash = move(chip.flash, Uint8Array, FLASH_AT);
  chip.flash16 = new Uint16Array(memory.buffer, FLASH_AT, FLASH_SIZE >> 1);
  chip.flashView = new DataView(memory.buffer, FLASH_AT, FLASH_SIZE);
  chip.core.registers = move(chip.core.registers, Uint32Array, REGISTERS);
  return chip;
}

export class Translator {
  constructor(runner, memory) {
    this.runner = runner;
    const heat = (at, bytes) => new Int32Array(memory.buffer, at, bytes >> 1);
    this.ram = heat(RAM_HEAT, RAM_SIZE);
    this.flash = heat(FLASH_HEAT, TRANSLATED);
    this.rom = heat(ROM_HEAT, ROM_SIZE);
    // By where code lies: its halfwords, its words where they do not change, and how often it was jumped to.
    this.places = {
      [RAM]: { code: runner.ram16, words: null, heat: this.ram },
      [FLASH]: { code: runner.flash16, words: runner.flash32, heat: this.flash },
      0: { code: runner.rom16, words: runner.rom32, heat: this.rom },
    };
    this.noted = runner.noted;
    this.state = new Int32Array(memory.buffer, STATE, 8);
    this.hot = HOT;
    this.longest = LONGEST;
    this.start = 0; // the core's cycles when the budget began
    this.table = new WebAssembly.Table({ element: 'anyfunc', initial: 0 });
    this.imports = {
      odt: { memory, regions: this.table, read: (...all) => this.read(...all), write: (...all) => this.write(...all) },
    };
    this.forget();
    this.run = this.made(dispatcher());
  }

  made(bytes) {
    return new WebAssembly.Instance(new WebAssembly.Module(bytes), this.imports).exports.run;
  }

  // An access that is neither to RAM nor to flash, `done` cycles into a block that takes `total`.
  read(address, bytes, used, done, next, total) {
    const { runner } = this;
    this.before(used + done, next);
    const value = runner.read(address, bytes);
    this.after(used, total);
    return value;
  }

  write(address, value, bytes, used, done, next, total) {
    this.before(used + done, next);
    this.runner.write(address, value, bytes);
    this.after(used, total);
  }

  before(used, next) {
    const { runner } = this;
    runner.reg[15] = next;
    runner.core.cycles = this.start + used;
  }

  after(before, total) {
    const { runner, state } = this;
    const used = before + runner.cost - 1; // the block counts one already
    state[STATE_USED] = used;
    state[STATE_RESULT] = runner.core.interruptsUpdated || runner.clock.changed ? ATTEND
      : used > state[STATE_LIMIT] - total ? INTERPRET : JUMPED;
  }

  forget() {
    this.ram.fill(0);
    this.flash.fill(0);
    this.rom.fill(0);
    this.regions = [];
    this.pages = new Uint8Array(TRANSLATED >> FLASH_PAGE); // of the flash: with translated code
  }

  // After a store to the flash.
  storedToFlash(offset) {
    if (offset < TRANSLATED && this.pages[offset >> FLASH_PAGE]) {
      this.forget();
    }
  }

  translate(base, at) {
    const { code, words, heat } = this.places[base];
    const all = blocks(code, at, heat.length, this.longest);
    if (!all.length) {
      return;
    }
    const number = new Map(all.map((block, k) => [block.at, k]));
    liveness(all, number);
    const pages = new Set();
    const parts = all.map((block) => {
      const last = block.list[block.list.length - 1];
      const end = last.at + last.size;
      for (let i = block.at; i < end; i++) {
        if (base === RAM) {
          pages.add(2 * i >> PAGE);
        } else if (base === FLASH) {
          this.pages[2 * i >> FLASH_PAGE] = 1;
        }
      }
      return { at: block.at, code: base === RAM ? code.slice(block.at, end) : null };
    });
    const id = this.regions.push({ pages, parts: base === RAM ? parts : [] }) - 1;
    const run = this.made(region(base, all, number, words, [...pages]));
    if (this.table.length <= id) {
      this.table.grow(id + 1 - this.table.length);
    }
    this.table.set(id, run);
    all.forEach((block, k) => {
      if (heat[block.at] >= 0) {
        heat[block.at] = -1 - (id << BLOCKS | k);
      }
    });
  }

  // After a store to pages with the code of a region in RAM: forgets what is no longer what was translated.
  compare(at) {
    const { noted, runner } = this;
    for (const page of this.regions[(-1 - this.ram[at]) >> BLOCKS].pages) {
      if (noted[page]) {
        noted[page] = 0;
        this.regions.forEach((other, id) => {
          if (other.pages.has(page) &&
              !other.parts.every((part) => part.code.every((op, i) => runner.ram16[part.at + i] === op))) {
            other.parts.forEach((part) => {
              if ((-1 - this.ram[part.at]) >> BLOCKS === id) {
                this.ram[part.at] = 0;
              }
            });
            other.pages.clear();
          }
        });
      }
    }
  }
}

export class Translating extends Runner {
  constructor(chip, clock) {
    const memory = new WebAssembly.Memory({ initial: MEMORY >> 16 });
    super(shared(chip, memory), clock);
    this.noted = new Uint8Array(memory.buffer, NOTED, (RAM_SIZE >> PAGE) + 1);
    this.translator = new Translator(this, memory);
    this.places.ram.heat = this.translator.ram;
    this.places.rom.heat = this.translator.rom;
    this.places[0].heat = this.translator.flash;
  }
}
