// Runs a firmware on an emulated RP2040 and offers its USB serial port on a loopback TCP port:
//
//   node bridge.mjs --bootrom bootrom.bin --firmware firmware.uf2 [--port 0] [--marks FILE]
//   mpremote connect socket://127.0.0.1:PORT
//
// Prints "port PORT" once a client can connect, and "ready" when the chip's USB serial is up.
// --marks FILE  a line "VALUE CYCLES" for each write to the watchdog's SCRATCH0 (0x4005800c); '-'
//               is stderr. CYCLES counts executed cycles since the start. With --core rp2040js a
//               third number follows: the same as the manuals count them, since the last reset.
// --core NAME   odt: core.mjs with translate.mjs, the default; interpreted: without; cached: core.mjs with the flash's
//               cache; rp2040js: that emulator's own, several times slower. README.md has how they differ.
// --serial FILE a line "in NANOS HEX" for what comes from the client, "out NANOS HEX" for what the
//               chip sends. NANOS is the chip's time since its last reset, its sleep included.
// --flash FILE  the flash's contents, read before the firmware is laid over it, written at exit.
// --cut N       the power fails at the Nth store to the flash, of all that erase and program it: exit 3. With --flash
//               their number is said at exit. Not counted by --core rp2040js; a reset counts anew and knows no N.
// --stdin       it ends, as at SIGTERM, when the standard input does: with the process that started it.
//
// It ends when the chip hits a breakpoint or a hard fault (exit 3), or at SIGTERM.

import { existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { Chip, loadUf2 } from './chip.mjs';
import { Runner } from './core.mjs';
import { Cached } from './cached.mjs';
import { Plain } from './plain.mjs';
import { Translating } from './translate.mjs';

const FLASH_SIZE = 2 * 1024 * 1024; // a Pico's

const { values: options } = parseArgs({
  options: {
    bootrom: { type: 'string' },
    firmware: { type: 'string' },
    port: { type: 'string', default: '0' },
    marks: { type: 'string' },
    serial: { type: 'string' },
    flash: { type: 'string' },
    cut: { type: 'string' },
    core: { type: 'string', default: 'odt' },
    stdin: { type: 'boolean', default: false },
  },
});
if (!options.bootrom || !options.firmware) {
  console.error('usage: node bridge.mjs --bootrom FILE --firmware FILE [--port N] [--marks FILE]');
  process.exit(2);
}

const image = readFileSync(options.bootrom);
const bootrom = new Uint32Array(4096);
new Uint8Array(bootrom.buffer).set(image);
const flash = new Uint8Array(16 * 1024 * 1024).fill(0xff);
if (options.flash && existsSync(options.flash)) {
  flash.set(readFileSync(options.flash));
}
loadUf2(readFileSync(options.firmware), flash, options.firmware);

// rp2040js warns of the mailbox between the cores, which it lacks, at every start.
console.warn = () => {};

const cores = { odt: Translating, interpreted: Runner, cached: Cached, rp2040js: Plain };
if (!(options.core in cores)) {
  console.error(`--core is odt, interpreted, cached or rp2040js, got ${options.core}`);
  process.exit(2);
}
const chip = new Chip(bootrom, flash, cores[options.core]);
if (options.cut) {
  chip.runner.cut = Number(options.cut);
}
let client = null;

let log = () => {};
if (options.serial) {
  const file = openSync(options.serial, 'w');
  log = (direction, bytes) =>
    writeSync(file, `${direction} ${Math.round(chip.nanos)} ${Buffer.from(bytes).toString('hex')}\n`);
}

chip.onData = (bytes) => {
  log('out', bytes);
  if (client) {
    client.write(bytes); // a copy of the endpoint's buffer: rp2040js slices it
  }
};

if (options.marks) {
  const file = options.marks === '-' ? 2 : openSync(options.marks, 'w');
  chip.onMark = (value, ...counts) =>
    writeSync(file, `${[value >>> 0, ...counts.filter((count) => count !== undefined)].join(' ')}\n`);
}

function save() {
  if (options.flash) {
    writeFileSync(options.flash, chip.chip.flash.subarray(0, FLASH_SIZE));
    console.error(`flash: ${chip.runner.stored} stores`);
  }
}

function finish() {
  save();
  process.exit(0);
}

chip.onStop = (error) => {
  save(); // before the client knows: it may end this process
  console.error(`rp2040: ${error.name === 'Error' ? error.message : error.stack}`); // the last word, which is reported
  if (client) {
    client.end(() => process.exit(3));
    setTimeout(() => process.exit(3), 500);
  } else {
    process.exit(3);
  }
};

chip.cdc.onDeviceConnected = () => console.log('ready');

const server = createServer((socket) => {
  if (client) {
    client.destroy(); // one serial port, one user: the newest
  }
  client = socket;
  socket.setNoDelay(true);
  socket.on('data', (bytes) => {
    log('in', bytes);
    chip.send(bytes);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (client === socket) {
      client = null;
    }
  });
});

server.listen(Number(options.port), '127.0.0.1', () => {
  console.log(`port ${server.address().port}`);
  chip.start();
});

process.on('SIGTERM', finish);
process.on('SIGINT', finish);
if (options.stdin) {
  process.stdin.on('close', finish).resume();
}
