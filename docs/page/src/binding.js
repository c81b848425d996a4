// The module `odtwasm` for MicroPython (docs/page/python/_odt.py): native/bindings/wasm.c in a memory of its own.
// Each call copies what it needs from MicroPython's memory to the other one, above the C code's own data, and back.

const REGIONS = 6;
const WRITTEN = 3; // the first regions: ARENA, STATE, CONTROL
const align = (at) => (at + 15) & ~15;

// `micropython`: what loadMicroPython() gave; `bytes`: of odt.wasm.
export async function bind(micropython, bytes) {
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const c = instance.exports;
  const base = align(c.__heap_base.value);
  // Both memories may move when they grow: their views are made again at each use.
  const python = () => micropython._module.HEAPU8;
  const own = () => new Uint8Array(c.memory.buffer);

  function reserve(end) {
    const missing = end - c.memory.buffer.byteLength;
    if (missing > 0) {
      c.memory.grow((missing + 65535) >> 16);
    }
  }

  // Copies `size` bytes of MicroPython's to `to`; returns the place after them.
  function bring(to, at, size) {
    reserve(to + size);
    own().set(python().subarray(at, at + size), to);
    return align(to + size);
  }

  function result(from, at, size) {
    python().set(own().subarray(from, from + size), at);
  }

  // `places`: address and bytes of out, samples, tables, work; out and work come back.
  function feature(compute, places) {
    const where = [];
    let end = base;
    for (let i = 0; i < places.length; i += 2) {
      where.push(end, places[i + 1]);
      end = bring(end, places[i], places[i + 1]);
    }
    const error = compute(...where);
    for (const i of [0, places.length - 2]) {
      result(where[i], places[i], places[i + 1]);
    }
    return error;
  }

  micropython.registerJsModule('odtwasm', {
    version: () => c.version(),
    verify(at, words, fault) {
      const place = bring(base, at, 4 * words);
      reserve(place + 24);
      const error = c.verify(base, words, place);
      result(place, fault, 24);
      return error;
    },
    region_bytes(at, words, region) {
      bring(base, at, 4 * words);
      return c.region_bytes(base, region);
    },
    run(at, words, start, stop, rows, ...places) {
      const table = bring(base, at, 4 * words);
      if (!c.is_run(base, start, stop)) {
        return false;
      }
      let end = align(table + 8 * REGIONS);
      const where = [];
      for (let i = 0; i < REGIONS; i++) {
        where.push(end);
        end = bring(end, places[2 * i], places[2 * i + 1]);
      }
      const entries = new Uint32Array(c.memory.buffer, table, 2 * REGIONS);
      for (let i = 0; i < REGIONS; i++) {
        entries[2 * i] = where[i];
        entries[2 * i + 1] = places[2 * i + 1];
      }
      c.run(base, start, stop, table, rows);
      for (let i = 0; i < WRITTEN; i++) {
        result(where[i], places[2 * i], places[2 * i + 1]);
      }
      return true;
    },
    crc32(at, size, crc) {
      bring(base, at, size);
      return c.crc32(base, size, crc) | 0;
    },
    log_mel: (...places) => feature(c.log_mel, places),
    motion: (...places) => feature(c.motion, places),
    draw(at, count, key, first) {
      reserve(base + 2 * count);
      c.draw(base, count, key, first);
      result(base, at, 2 * count);
    },
    draw_bytes(at, count, key, first, low) {
      reserve(base + count);
      c.draw_bytes(base, count, key, first, low);
      result(base, at, count);
    },
  });
}
