// core.mjs with the cache that a RP2040 reads its flash through: 16 KB in lines of 8 bytes, two to a set (RP2040 datasheet,
// 2.6.3). That the older of a set's two lines goes is an assumption, and so are the cycles of a miss: 28 of the serial
// clock for a line of 8 bytes in continuous mode (6 of an address of 24 bits, 2 of mode bits, 4 of waiting, 16 of data, four
// bits at a time), two of the core each with the SDK's divider, and 4 more to begin and end.

import { Runner } from './core.mjs';

const SETS = 1024;
const MISS = 60;

export class Cache {
  constructor() {
    this.newer = new Int32Array(SETS).fill(-1);
    this.older = new Int32Array(SETS).fill(-1);
  }

  // Cycles that are waited for the line of that number.
  touch(line) {
    const set = line & (SETS - 1);
    const before = this.newer[set];
    if (before === line) {
      return 0;
    }
    const wait = this.older[set] === line ? 0 : MISS;
    this.older[set] = before;
    this.newer[set] = line;
    return wait;
  }
}

export class Cached extends Runner {
  constructor(chip, clock) {
    super(chip, clock);
    this.isAlone = true;
    this.cache = new Cache();
  }
}
