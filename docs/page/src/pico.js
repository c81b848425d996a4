// An emulated Pico in a worker: {bootrom, firmware} starts it, {send} goes to its serial port, {data} comes from there.

import './immediate.js';
import { Chip, loadUf2 } from '../../../tests_device/rp2040js/chip.mjs';

const FLASH = 16 * 1024 * 1024;
let chip = null;
console.warn = () => {}; // rp2040js says there what it does not emulate

self.onmessage = ({ data }) => {
  if (data.send) {
    chip.send(data.send);
    return;
  }
  const bootrom = new Uint32Array(4096);
  new Uint8Array(bootrom.buffer).set(data.bootrom);
  const flash = new Uint8Array(FLASH).fill(0xff);
  loadUf2(data.firmware, flash);
  chip = new Chip(bootrom, flash);
  chip.onData = (bytes) => self.postMessage({ data: bytes.slice(), cycles: chip.cycles });
  chip.onStop = (error) => self.postMessage({ stopped: String(error.message) });
  chip.cdc.onDeviceConnected = () => self.postMessage({ connected: true });
  chip.start();
};
