// An interpreter for the Cortex-M0+ of rp2040js, about three times as fast as its own. README.md: how they differ.
// translate.mjs makes it twice as fast again.
//
// It works on the state of rp2040js's core object (registers, flags, pending interrupts), so that
// exceptions and peripherals stay rp2040js's. Written from the ARMv6-M architecture manual; cycles
// are those of the Cortex-M0+ manual, with the RP2040's one-cycle multiplier and 15 cycles to enter
// an exception. Not modelled: bus contention, cycles to leave one, and but for cached.mjs misses of the flash cache.
//
// A program that does what the chip answers with a hard fault stops the emulation with a Fault:
// an unaligned or unmapped access, a write to flash outside the ROM's own routines.

export const RAM = 0x20000000;
export const RAM_SIZE = 0x42000;
export const FLASH = 0x10000000;
export const FLASH_SIZE = 0x1000000;
export const ROM_SIZE = 0x4000;
// Words of the state between core.mjs and translate.mjs.
export const [STATE_N, STATE_Z, STATE_C, STATE_V, STATE_USED, STATE_RESULT, STATE_LIMIT] = [0, 1, 2, 3, 4, 5, 6];
// How translated code ended.
export const JUMPED = 0; // to code that is not translated
export const ATTEND = 1; // something may have to interrupt
export const INTERPRET = 2; // the next instruction is the interpreter's
export const STORED = 3; // not begun: something was stored to a page with its code
export const PAGE = 6; // bits of an address within a page of RAM that is noted as stored to
// Where no RP2040 has any: memory that ends, and begins, beside none, for tests_device/checks/kernels/test_guard.py.
const GUARDED = 0x30000000;
const GUARDED_SIZE = 0x8000;

// An array of another type over the same bytes.
const as = (Type, from) => new Type(from.buffer, from.byteOffset, from.byteLength / Type.BYTES_PER_ELEMENT);

export class Fault extends Error {}

const hex = (x) => `0x${(x >>> 0).toString(16).padStart(8, '0')}`;

// How far a branch goes, in halfwords, by its 8 or 11 bits.
export const offset8 = (op) => (op << 24) >> 24;
export const offset11 = (op) => (op << 21) >> 21;

export class Runner {
  constructor(chip, clock) {
    this.chip = chip;
    this.clock = clock;
    this.core = chip.core;
    this.reg = as(Int32Array, chip.core.registers);
    this.ram32 = as(Int32Array, chip.sram);
    this.ram16 = as(Uint16Array, chip.sram);
    this.ram8 = chip.sram;
    this.flash32 = as(Int32Array, chip.flash);
    this.flash16 = chip.flash16;
    this.flash8 = chip.flash;
    this.rom32 = new Int32Array(chip.bootrom.buffer);
    this.rom16 = new Uint16Array(chip.bootrom.buffer);
    this.rom8 = new Uint8Array(chip.bootrom.buffer);
    this.noted = new Uint8Array((RAM_SIZE >> PAGE) + 1); // pages of RAM that were stored to
    this.guarded = new Uint8Array(GUARDED_SIZE);
    this.cost = 0; // cycles of the last access, beyond the instruction's own
    this.cache = null; // of the flash
    this.stored = 0; // accesses that wrote to the flash
    const flash = (base) => ({ code: this.flash16, base, size: FLASH_SIZE, heat: null });
    this.places = {
      ...Array.from({ length: 16 }, (_, i) => flash(FLASH + i * FLASH_SIZE)), // by eight bits of the address: aliases
      ram: { code: this.ram16, base: RAM, size: RAM_SIZE, heat: null },
      rom: { code: this.rom16, base: 0, size: ROM_SIZE, heat: null },
    };
    this.translator = null; // translate.mjs's
    this.isAlone = false; // whether second.mjs cannot run beside it
    this.waitsForEvent = false; // a core that waits: by WFE
    this.cut = Infinity; // at which of them the power fails

    // Unlike rp2040js's, this one never enters a handler by itself: takeInterrupts() does.
    const core = chip.core;
    core.setInterrupt = (irq, value) => {
      if (value) {
        core.pendingInterrupts |= 1 << irq;
        core.interruptsUpdated = true;
      } else {
        core.pendingInterrupts &= ~(1 << irq);
      }
    };
  }

  // Ends a WFI or WFE when anything is pending that could interrupt, and enters its handler if
  // PRIMASK lets it.
  takeInterrupts() {
    const { core } = this;
    if (core.waiting) {
      const due = core.pendingInterrupts & core.enabledInterrupts;
      if (due || core.pendingSystick || core.pendingPendSV || core.pendingSVCall) {
        core.waiting = false;
      }
    }
    if (!core.waiting) {
      while (core.checkForInterrupts()) {
        core.cycles += 15;
      }
    }
  }

  // To all cores: second.mjs's where there are two.
  sendEvent() {
    this.core.eventRegistered = true;
  }

  fault(what, address) {
    const { reg } = this;
    throw new Fault(`hard fault: ${what} ${hex(address)}, near ${hex(reg[15])}, LR ${hex(reg[14])}`);
  }

  // --- accesses that are not to RAM, or are wrong ---

  read(address, size) {
    const a = address >>> 0;
    if (a & (size - 1)) {
      this.fault('unaligned load from', a);
    }
    this.cost = 1;
    if (a >= FLASH && a < FLASH + 4 * FLASH_SIZE) {
      const o = a & (FLASH_SIZE - 1);
      if (this.cache !== null && a < FLASH + FLASH_SIZE) {
        this.cost += this.cache.touch(o >> 3);
      }
      return size === 4 ? this.flash32[o >> 2] : size === 2 ? this.flash16[o >> 1] : this.flash8[o];
    }
    if (a < ROM_SIZE) {
      return size === 4 ? this.rom32[a >> 2] : size === 2 ? this.rom16[a >> 1] : this.rom8[a];
    }
    const { chip } = this;
    const region = a >>> 28;
    if (region === 0xd) {
      this.cost = 0;
    } else if (region === 4) {
      this.cost = 3;
    } else if (region === 3 && a < GUARDED + GUARDED_SIZE) {
      let value = 0;
      for (let i = size - 1; i >= 0; i--) {
        value = value << 8 | this.guarded[a - GUARDED + i];
      }
      return value;
    } else if (!this.mapped(a)) {
      this.fault('load from', a);
    }
    return (size === 4 ? chip.readUint32(a) : size === 2 ? chip.readUint16(a) : chip.readUint8(a)) | 0;
  }

  write(address, value, size) {
    const a = address >>> 0;
    if (a & (size - 1)) {
      this.fault('unaligned store to', a);
    }
    this.cost = 1;
    if (a < ROM_SIZE) {
      return; // ignored, as by the chip: TinyUSB writes through a null pointer for endpoint 0
    }
    const { chip } = this;
    const region = a >>> 28;
    if (region === 0xd) {
      this.cost = 0;
    } else if (region === 4) {
      this.cost = 4;
    } else if (region === 1) {
      if (a >= FLASH + FLASH_SIZE ? !chip.findPeripheral(a) && a >> 14 !== 0x14000000 >> 14
        : this.reg[15] >>> 0 >= ROM_SIZE) {
        this.fault('store to', a);
      }
      if (a < FLASH + FLASH_SIZE && ++this.stored >= this.cut) {
        throw new Fault('the power failed');
      }
      if (this.translator !== null) {
        this.translator.storedToFlash(a - FLASH);
      }
    } else if (region === 3 && a < GUARDED + GUARDED_SIZE) {
      for (let i = 0; i < size; i++) {
        this.guarded[a - GUARDED + i] = value >> 8 * i;
      }
      return;
    } else if (!this.mapped(a)) {
      this.fault('store to', a);
    }
    const { cycles } = this.core;
    if (size === 4) {
      chip.writeUint32(a, value >>> 0);
    } else if (size === 2) {
      chip.writeUint16(a, value & 0xffff);
    } else {
      chip.writeUint8(a, value & 0xff);
    }
    this.core.cycles = cycles; // rp2040js charges the divider's 8 cycles to the store
  }

  mapped(a) {
    const region = a >>> 28;
    return region === 0xe || region === 1 || region === 4 || region === 5 || (a >= RAM && a < RAM + RAM_SIZE);
  }

  // What code at an address lies in: its halfwords, where they begin, their bytes, and translate.mjs's counts of jumps.
  place(pc) {
    const place = pc >>> 28 === 1 ? this.places[(pc >>> 24) & 15] : (pc - RAM) >>> 0 < RAM_SIZE ? this.places.ram
      : pc >>> 0 < ROM_SIZE ? this.places.rom : undefined;
    if (place === undefined) {
      this.fault('jump to', pc);
    }
    return place;
  }

  // Runs about `budget` cycles; fewer when an interrupt, an alarm or a sleep wants attention.
  run(budget) {
    const { core, clock, reg, ram32, ram16, ram8, rom16, flash16, cache, noted } = this;
    const start = core.cycles;
    let used = 0;
    let limit = budget;
    // Flags: N is n < 0, Z is z === 0, C is 0 or 1, V is v < 0.
    let n = core.N ? -1 : 0;
    let z = core.Z ? 0 : 1;
    let c = core.C ? 1 : 0;
    let v = core.V ? -1 : 0;
    let pc = reg[15] & ~1;
    let place = this.place(pc); // what the code lies in
    let { code, base, size, heat } = place;
    let at = (pc - base) >> 1; // the index of the next halfword
    let line = -1; // of the cache
    const { translator } = this;
    if (translator !== null) {
      translator.start = start;
    }

    while (used < limit) {
      if (cache !== null && code === flash16 && at >> 2 !== line) {
        line = at >> 2;
        used = (used + cache.touch(line)) | 0;
      }
      const op = code[at];
      at = (at + 1) | 0;
      used = (used + 1) | 0;
      let a = 0;
      let b = 0;
      let r = 0;
      let slow = false;
      let branch = false; // directly
      let jump = false; // to address r, which may end an exception handler
      switch (op >>> 8) {
        case 0x00: case 0x01: case 0x02: case 0x03: case 0x04: case 0x05: case 0x06: case 0x07: { // LSLS
          r = reg[(op >> 3) & 7];
          const shift = (op >> 6) & 31;
          if (shift) {
            c = (r >>> (32 - shift)) & 1;
            r <<= shift;
          }
          n = z = reg[op & 7] = r;
          break;
        }
        case 0x08: case 0x09: case 0x0a: case 0x0b: case 0x0c: case 0x0d: case 0x0e: case 0x0f: { // LSRS
          r = reg[(op >> 3) & 7];
          const shift = (op >> 6) & 31;
          if (shift) {
            c = (r >>> (shift - 1)) & 1;
            r = (r >>> shift) | 0;
          } else {
            c = r >>> 31;
            r = 0;
          }
          n = z = reg[op & 7] = r;
          break;
        }
        case 0x10: case 0x11: case 0x12: case 0x13: case 0x14: case 0x15: case 0x16: case 0x17: { // ASRS
          r = reg[(op >> 3) & 7];
          const shift = (op >> 6) & 31;
          if (shift) {
            c = (r >> (shift - 1)) & 1;
            r >>= shift;
          } else {
            c = r >>> 31;
            r >>= 31;
          }
          n = z = reg[op & 7] = r;
          break;
        }
        case 0x18: case 0x19: // ADDS register
          a = reg[(op >> 3) & 7];
          b = reg[(op >> 6) & 7];
          n = z = r = (a + b) | 0;
          c = r >>> 0 < a >>> 0 ? 1 : 0;
          v = (a ^ r) & (b ^ r);
          reg[op & 7] = r;
          break;
        case 0x1a: case 0x1b: // SUBS register
          a = reg[(op >> 3) & 7];
          b = reg[(op >> 6) & 7];
          n = z = r = (a - b) | 0;
          c = a >>> 0 >= b >>> 0 ? 1 : 0;
          v = (a ^ b) & (a ^ r);
          reg[op & 7] = r;
          break;
        case 0x1c: case 0x1d: // ADDS imm3
          a = reg[(op >> 3) & 7];
          b = (op >> 6) & 7;
          n = z = r = (a + b) | 0;
          c = r >>> 0 < a >>> 0 ? 1 : 0;
          v = ~a & r;
          reg[op & 7] = r;
          break;
        case 0x1e: case 0x1f: // SUBS imm3
          a = reg[(op >> 3) & 7];
          b = (op >> 6) & 7;
          n = z = r = (a - b) | 0;
          c = a >>> 0 >= b ? 1 : 0;
          v = a & ~r;
          reg[op & 7] = r;
          break;
        case 0x20: case 0x21: case 0x22: case 0x23: case 0x24: case 0x25: case 0x26: case 0x27: // MOVS
          n = z = reg[(op >> 8) & 7] = op & 0xff;
          break;
        case 0x28: case 0x29: case 0x2a: case 0x2b: case 0x2c: case 0x2d: case 0x2e: case 0x2f: // CMP imm8
          a = reg[(op >> 8) & 7];
          b = op & 0xff;
          n = z = (a - b) | 0;
          c = a >>> 0 >= b ? 1 : 0;
          v = a & ~n;
          break;
        case 0x30: case 0x31: case 0x32: case 0x33: case 0x34: case 0x35: case 0x36: case 0x37: // ADDS imm8
          a = reg[(op >> 8) & 7];
          n = z = r = (a + (op & 0xff)) | 0;
          c = r >>> 0 < a >>> 0 ? 1 : 0;
          v = ~a & r;
          reg[(op >> 8) & 7] = r;
          break;
        case 0x38: case 0x39: case 0x3a: case 0x3b: case 0x3c: case 0x3d: case 0x3e: case 0x3f: // SUBS imm8
          a = reg[(op >> 8) & 7];
          b = op & 0xff;
          n = z = r = (a - b) | 0;
          c = a >>> 0 >= b ? 1 : 0;
          v = a & ~r;
          reg[(op >> 8) & 7] = r;
          break;
        case 0x40: case 0x41: case 0x42: case 0x43: {
          const d = op & 7;
          a = reg[d];
          b = reg[(op >> 3) & 7];
          switch ((op >> 6) & 15) {
            case 0: // ANDS
              n = z = reg[d] = a & b;
              break;
            case 1: // EORS
              n = z = reg[d] = a ^ b;
              break;
            case 2: // LSLS
              b &= 0xff;
              if (b) {
                c = b > 32 ? 0 : (a >>> (32 - b)) & 1;
                a = b > 31 ? 0 : a << b;
              }
              n = z = reg[d] = a;
              break;
            case 3: // LSRS
              b &= 0xff;
              if (b) {
                c = b > 32 ? 0 : (a >>> (b - 1)) & 1;
                a = b > 31 ? 0 : (a >>> b) | 0;
              }
              n = z = reg[d] = a;
              break;
            case 4: // ASRS
              b &= 0xff;
              if (b) {
                c = b > 31 ? a >>> 31 : (a >> (b - 1)) & 1;
                a = b > 31 ? a >> 31 : a >> b;
              }
              n = z = reg[d] = a;
              break;
            case 5: { // ADCS
              const sum = (a >>> 0) + (b >>> 0) + c;
              n = z = r = sum | 0;
              c = sum > 0xffffffff ? 1 : 0;
              v = (a ^ r) & (b ^ r);
              reg[d] = r;
              break;
            }
            case 6: { // SBCS
              const sum = (a >>> 0) + (~b >>> 0) + c;
              n = z = r = sum | 0;
              c = sum > 0xffffffff ? 1 : 0;
              v = (a ^ b) & (a ^ r);
              reg[d] = r;
              break;
            }
            case 7: // RORS
              b &= 0xff;
              if (b) {
                a = b & 31 ? (a >>> (b & 31)) | (a << (32 - (b & 31))) : a;
                c = a >>> 31;
              }
              n = z = reg[d] = a;
              break;
            case 8: // TST
              n = z = a & b;
              break;
            case 9: // RSBS (NEGS)
              n = z = r = -b | 0;
              c = b === 0 ? 1 : 0;
              v = b & r;
              reg[d] = r;
              break;
            case 10: // CMP
              n = z = r = (a - b) | 0;
              c = a >>> 0 >= b >>> 0 ? 1 : 0;
              v = (a ^ b) & (a ^ r);
              break;
            case 11: // CMN
              n = z = r = (a + b) | 0;
              c = r >>> 0 < a >>> 0 ? 1 : 0;
              v = (a ^ r) & (b ^ r);
              break;
            case 12: // ORRS
              n = z = reg[d] = a | b;
              break;
            case 13: // MULS
              n = z = reg[d] = Math.imul(a, b);
              break;
            case 14: // BICS
              n = z = reg[d] = a & ~b;
              break;
            default: // MVNS
              n = z = reg[d] = ~b;
          }
          break;
        }
        case 0x44: { // ADD, high registers
          const d = (op & 7) | ((op >> 4) & 8);
          const m = (op >> 3) & 15;
          r = ((d === 15 ? base + (at << 1) + 2 : reg[d]) + (m === 15 ? base + (at << 1) + 2 : reg[m])) | 0;
          if (d === 15) {
            used++;
            jump = true;
          } else {
            reg[d] = d === 13 ? r & ~3 : r;
          }
          break;
        }
        case 0x45: { // CMP, high registers
          const m = (op >> 3) & 15;
          a = reg[(op & 7) | ((op >> 4) & 8)];
          b = m === 15 ? (base + (at << 1) + 2) | 0 : reg[m];
          n = z = r = (a - b) | 0;
          c = a >>> 0 >= b >>> 0 ? 1 : 0;
          v = (a ^ b) & (a ^ r);
          break;
        }
        case 0x46: { // MOV, high registers
          const d = (op & 7) | ((op >> 4) & 8);
          const m = (op >> 3) & 15;
          r = m === 15 ? (base + (at << 1) + 2) | 0 : reg[m];
          if (d === 15) {
            used++;
            jump = true;
          } else {
            reg[d] = d === 13 ? r & ~3 : r;
          }
          break;
        }
        case 0x47: // BX, BLX
          r = reg[(op >> 3) & 15];
          if (op & 0x80) {
            reg[14] = (base + (at << 1)) | 1;
          }
          used++;
          jump = true;
          break;
        case 0x48: case 0x49: case 0x4a: case 0x4b: case 0x4c: case 0x4d: case 0x4e: case 0x4f: { // LDR literal
          const i = (((at + 1) & ~1) + ((op & 0xff) << 1)) | 0;
          reg[(op >> 8) & 7] = code[i] | (code[i + 1] << 16);
          used++;
          break;
        }
        case 0x50: case 0x51: case 0x60: case 0x61: case 0x62: case 0x63: case 0x64: case 0x65:
        case 0x66: case 0x67: case 0x90: case 0x91: case 0x92: case 0x93: case 0x94: case 0x95:
        case 0x96: case 0x97: { // STR
          let t = op & 7;
          if (op < 0x6000) {
            a = (reg[(op >> 3) & 7] + reg[(op >> 6) & 7]) | 0;
          } else if (op < 0x9000) {
            a = (reg[(op >> 3) & 7] + ((op >> 4) & 0x7c)) | 0;
          } else {
            a = (reg[13] + ((op & 0xff) << 2)) | 0;
            t = (op >> 8) & 7;
          }
          const o = (a - RAM) | 0;
          if (o >>> 0 < RAM_SIZE && (a & 3) === 0) {
            ram32[o >> 2] = reg[t];
            noted[o >> PAGE] = 1;
            used++;
          } else {
            core.cycles = start + used;
            reg[15] = (base + (at << 1));
            this.write(a, reg[t], 4);
            slow = true;
          }
          break;
        }
        case 0x52: case 0x53: case 0x80: case 0x81: case 0x82: case 0x83: case 0x84: case 0x85:
        case 0x86: case 0x87: { // STRH
          a = op < 0x8000 ? reg[(op >> 6) & 7] : (op >> 5) & 0x3e;
          a = (reg[(op >> 3) & 7] + a) | 0;
          const o = (a - RAM) | 0;
          if (o >>> 0 < RAM_SIZE && (a & 1) === 0) {
            ram16[o >> 1] = reg[op & 7];
            noted[o >> PAGE] = 1;
            used++;
          } else {
            core.cycles = start + used;
            reg[15] = (base + (at << 1));
            this.write(a, reg[op & 7], 2);
            slow = true;
          }
          break;
        }
        case 0x54: case 0x55: case 0x70: case 0x71: case 0x72: case 0x73: case 0x74: case 0x75:
        case 0x76: case 0x77: { // STRB
          a = op < 0x7000 ? reg[(op >> 6) & 7] : (op >> 6) & 31;
          a = (reg[(op >> 3) & 7] + a) | 0;
          const o = (a - RAM) | 0;
          if (o >>> 0 < RAM_SIZE) {
            ram8[o] = reg[op & 7];
            noted[o >> PAGE] = 1;
            used++;
          } else {
            core.cycles = start + used;
            reg[15] = (base + (at << 1));
            this.write(a, reg[op & 7], 1);
            slow = true;
          }
          break;
        }
        case 0x58: case 0x59: case 0x68: case 0x69: case 0x6a: case 0x6b: case 0x6c: case 0x6d:
        case 0x6e: case 0x6f: case 0x98: case 0x99: case 0x9a: case 0x9b: case 0x9c: case 0x9d:
        case 0x9e: case 0x9f: { // LDR
          let t = op & 7;
          if (op < 0x6000) {
            a = (reg[(op >> 3) & 7] + reg[(op >> 6) & 7]) | 0;
          } else if (op < 0x9000) {
            a = (reg[(op >> 3) & 7] + ((op >> 4) & 0x7c)) | 0;
          } else {
            a = (reg[13] + ((op & 0xff) << 2)) | 0;
            t = (op >> 8) & 7;
          }
          const o = (a - RAM) | 0;
          if (o >>> 0 < RAM_SIZE && (a & 3) === 0) {
            reg[t] = ram32[o >> 2];
            used++;
          } else {
            core.cycles = start + used;
            reg[15] = (base + (at << 1));
            reg[t] = this.read(a, 4);
            slow = true;
          }
          break;
        }
        case 0x56: case 0x57: case 0x5c: case 0x5d: case 0x78: case 0x79: case 0x7a: case 0x7b:
        case 0x7c: case 0x7d: case 0x7e: case 0x7f: { // LDRSB, LDRB
          a = op < 0x7000 ? reg[(op >> 6) & 7] : (op >> 6) & 31;
          a = (reg[(op >> 3) & 7] + a) | 0;
          const o = (a - RAM) | 0;
          if (o >>> 0 < RAM_SIZE) {
            r = ram8[o];
            used++;
          } else {
            core.cycles = start + used;
            reg[15] = (base + (at << 1));
            r = this.read(a, 1);
            slow = true;
          }
          reg[op & 7] = op < 0x5800 ? (r << 24) >> 24 : r;
          break;
        }
        case 0x5a: case 0x5b: case 0x5e: case 0x5f: case 0x88: case 0x89: case 0x8a: case 0x8b:
        case 0x8c: case 0x8d: case 0x8e: case 0x8f: { // LDRH, LDRSH
          a = op < 0x8000 ? reg[(op >> 6) & 7] : (op >> 5) & 0x3e;
          a = (reg[(op >> 3) & 7] + a) | 0;
          const o = (a - RAM) | 0;
          if (o >>> 0 < RAM_SIZE && (a & 1) === 0) {
            r = ram16[o >> 1];
            used++;
          } else {
            core.cycles = start + used;
            reg[15] = (base + (at << 1));
            r = this.read(a, 2);
            slow = true;
          }
          reg[op & 7] = op >= 0x5e00 && op < 0x6000 ? (r << 16) >> 16 : r;
          break;
        }
        case 0xa0: case 0xa1: case 0xa2: case 0xa3: case 0xa4: case 0xa5: case 0xa6: case 0xa7: // ADR
          reg[(op >> 8) & 7] = ((base + (at << 1) + 2) & ~3) + ((op & 0xff) << 2);
          break;
        case 0xa8: case 0xa9: case 0xaa: case 0xab: case 0xac: case 0xad: case 0xae: case 0xaf: // ADD SP
          reg[(op >> 8) & 7] = reg[13] + ((op & 0xff) << 2);
          break;
        case 0xb0: // ADD, SUB SP
          reg[13] += op & 0x80 ? -((op & 0x7f) << 2) : (op & 0x7f) << 2;
          break;
        case 0xb2: // SXTH, SXTB, UXTH, UXTB
          r = reg[(op >> 3) & 7];
          switch ((op >> 6) & 3) {
            case 0: r = (r << 16) >> 16; break;
            case 1: r = (r << 24) >> 24; break;
            case 2: r &= 0xffff; break;
            default: r &= 0xff;
          }
          reg[op & 7] = r;
          break;
        case 0xb4: case 0xb5: { // PUSH
          let list = op & 0x1ff;
          a = reg[13];
          reg[15] = (base + (at << 1));
          if (list & 0x100) {
            a -= 4;
            this.store(a, reg[14]);
            used++;
          }
          list &= 0xff;
          while (list) {
            const i = 31 - Math.clz32(list);
            list ^= 1 << i;
            a -= 4;
            this.store(a, reg[i]);
            used++;
          }
          reg[13] = a;
          break;
        }
        case 0xb6: // CPSIE, CPSID
          core.PM = op === 0xb672;
          core.interruptsUpdated = true;
          limit = 0;
          break;
        case 0xba: // REV, REV16, REVSH
          r = reg[(op >> 3) & 7];
          a = ((r & 0x00ff00ff) << 8) | ((r >>> 8) & 0x00ff00ff);
          switch ((op >> 6) & 3) {
            case 0: r = (a << 16) | (a >>> 16); break;
            case 1: r = a; break;
            default: r = (a << 16) >> 16;
          }
          reg[op & 7] = r;
          break;
        case 0xbc: case 0xbd: { // POP
          let list = op & 0xff;
          a = reg[13];
          reg[15] = (base + (at << 1));
          while (list) {
            const low = list & -list;
            reg[31 - Math.clz32(low)] = this.load(a);
            list ^= low;
            a += 4;
            used++;
          }
          if (op & 0x100) {
            r = this.load(a);
            a += 4;
            used += 3;
            jump = true;
          }
          reg[13] = a;
          break;
        }
        case 0xbe: // BKPT
          reg[15] = (base + (at << 1)) - 2;
          core.cycles = start + used;
          this.chip.onBreak(op & 0xff);
          break;
        case 0xbf: // hints
          if (op === 0xbf20) { // WFE
            used++;
            if (core.eventRegistered) {
              core.eventRegistered = false;
            } else {
              core.waiting = this.waitsForEvent = true;
              core.interruptsUpdated = true;
              limit = 0;
            }
          } else if (op === 0xbf30) { // WFI
            used++;
            core.waiting = true;
            this.waitsForEvent = false;
            core.interruptsUpdated = true;
            limit = 0;
          } else if (op === 0xbf40) { // SEV
            this.sendEvent();
            limit = clock.changed ? 0 : limit;
          }
          break;
        case 0xc0: case 0xc1: case 0xc2: case 0xc3: case 0xc4: case 0xc5: case 0xc6: case 0xc7: { // STM
          const d = (op >> 8) & 7;
          let list = op & 0xff;
          a = reg[d];
          reg[15] = (base + (at << 1));
          while (list) {
            const low = list & -list;
            this.store(a, reg[31 - Math.clz32(low)]);
            list ^= low;
            a += 4;
            used++;
          }
          reg[d] = a;
          break;
        }
        case 0xc8: case 0xc9: case 0xca: case 0xcb: case 0xcc: case 0xcd: case 0xce: case 0xcf: { // LDM
          const d = (op >> 8) & 7;
          let list = op & 0xff;
          a = reg[d];
          reg[15] = (base + (at << 1));
          while (list) {
            const low = list & -list;
            reg[31 - Math.clz32(low)] = this.load(a);
            list ^= low;
            a += 4;
            used++;
          }
          if (!(op & (1 << d))) {
            reg[d] = a;
          }
          break;
        }
        case 0xd0: // BEQ
          if (z === 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd1: // BNE
          if (z !== 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd2: // BCS
          if (c !== 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd3: // BCC
          if (c === 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd4: // BMI
          if (n < 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd5: // BPL
          if (n >= 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd6: // BVS
          if (v < 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd7: // BVC
          if (v >= 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd8: // BHI
          if (c !== 0 && z !== 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xd9: // BLS
          if (c === 0 || z === 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xda: // BGE
          if ((n ^ v) >= 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xdb: // BLT
          if ((n ^ v) < 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xdc: // BGT
          if (z !== 0 && (n ^ v) >= 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xdd: // BLE
          if (z === 0 || (n ^ v) < 0) { at = (at + offset8(op) + 1) | 0; used = (used + 1) | 0; branch = true; }
          break;
        case 0xdf: // SVC
          core.pendingSVCall = true;
          core.interruptsUpdated = true;
          limit = 0;
          break;
        case 0xe0: case 0xe1: case 0xe2: case 0xe3: case 0xe4: case 0xe5: case 0xe6: case 0xe7: // B
          at = (at + offset11(op) + 1) | 0;
          used = (used + 1) | 0;
          branch = true;
          break;
        case 0xf0: case 0xf1: case 0xf2: case 0xf3: case 0xf4: case 0xf5: case 0xf6: case 0xf7: {
          const op2 = code[at];
          at = (at + 1) | 0;
          const pc = (base + (at << 1)) | 0;
          used += 2;
          if ((op2 & 0xd000) === 0xd000) { // BL
            const s = (op >> 10) & 1;
            const i1 = (op2 >> 13) & 1 ^ s ^ 1;
            const i2 = (op2 >> 11) & 1 ^ s ^ 1;
            reg[14] = pc | 1;
            r = (pc + ((-s << 24) | (i1 << 23) | (i2 << 22) | ((op & 0x3ff) << 12) | ((op2 & 0x7ff) << 1))) | 1;
            jump = true;
          } else if ((op & 0xffe0) === 0xf380 && (op2 & 0xff00) === 0x8800) { // MSR
            core.N = n < 0;
            core.Z = z === 0;
            core.C = c !== 0;
            core.V = v < 0;
            core.writeSpecialRegister(op2 & 0xff, reg[op & 15] >>> 0);
            core.interruptsUpdated = true;
            n = core.N ? -1 : 0;
            z = core.Z ? 0 : 1;
            c = core.C ? 1 : 0;
            v = core.V ? -1 : 0;
            limit = 0;
          } else if (op === 0xf3ef && (op2 & 0xf000) === 0x8000) { // MRS
            core.N = n < 0;
            core.Z = z === 0;
            core.C = c !== 0;
            core.V = v < 0;
            reg[(op2 >> 8) & 15] = core.readSpecialRegister(op2 & 0xff);
          } else if (op !== 0xf3bf) { // not DMB, DSB, ISB
            reg[15] = pc;
            this.fault('undefined instruction at', pc - 4);
          }
          break;
        }
        default:
          reg[15] = (base + (at << 1));
          this.fault('undefined instruction at', reg[15] - 2);
      }
      if (slow) {
        used = (used + this.cost) | 0;
        if (core.interruptsUpdated || clock.changed) {
          limit = 0;
        }
      }
      if (jump) {
        if (r >>> 28 === 15 && core.currentMode === 1) { // the end of an exception handler
          core.BXWritePC(r >>> 0);
          n = core.N ? -1 : 0;
          z = core.Z ? 0 : 1;
          c = core.C ? 1 : 0;
          v = core.V ? -1 : 0;
          r = reg[15];
          limit = 0;
        }
        pc = r & ~1;
      }
      for (let moved = jump, going = translator !== null && (jump || branch); moved || going;) {
        if (moved) {
          if ((pc - base) >>> 0 >= size) {
            place = this.place(pc);
            ({ code, base, size, heat } = place);
          }
          at = (pc - base) >> 1;
          moved = false;
        }
        if (!going || used >= limit || heat === null || at >= heat.length) {
          break;
        }
        if (heat[at] >= 0) {
          heat[at] = (heat[at] + 1) | 0;
          if (heat[at] !== translator.hot) {
            break;
          }
          translator.translate(base, at);
          if (heat[at] >= 0) {
            break;
          }
        }
        const { state } = translator;
        state[STATE_N] = n;
        state[STATE_Z] = z;
        state[STATE_C] = c;
        state[STATE_V] = v;
        state[STATE_USED] = used;
        state[STATE_LIMIT] = limit;
        pc = translator.run(base + (at << 1));
        n = state[STATE_N];
        z = state[STATE_Z];
        c = state[STATE_C];
        v = state[STATE_V];
        used = state[STATE_USED];
        moved = true;
        switch (state[STATE_RESULT]) {
          case JUMPED:
            break;
          case ATTEND:
            limit = 0;
            break;
          case INTERPRET:
            going = false;
            break;
          default: // STORED
            translator.compare((pc - RAM) >> 1);
        }
      }
    }
    core.N = n < 0;
    core.Z = z === 0;
    core.C = c !== 0;
    core.V = v < 0;
    reg[15] = base + (at << 1);
    core.cycles = start + used;
  }

  // One word of a multiple load or store: RAM nearly always. Peripherals are not accessed so.
  load(address) {
    const o = (address - RAM) | 0;
    return o >>> 0 < RAM_SIZE && (address & 3) === 0 ? this.ram32[o >> 2] : this.read(address, 4);
  }

  store(address, value) {
    const o = (address - RAM) | 0;
    if (o >>> 0 < RAM_SIZE && (address & 3) === 0) {
      this.ram32[o >> 2] = value;
      this.noted[o >> PAGE] = 1;
    } else {
      this.write(address, value, 4);
    }
  }
}
