// Boards, their RAM, and how long a step takes there where odt's cost model knows.

import { $, element, number } from './dom.js';

// RAM of the chip by its data sheet; `machine`: of odt.host.cost, which gives an RP2040's cycles, and instructions of the
// others: a Cortex-M33 and a Cortex-M7 run a Cortex-M4's (bench/results/cost_m4f.txt has how near).
export const BOARDS = [
  { name: 'RP2040 (Pico)', ram: 264 * 1024, machine: 'rp2040', hertz: 125e6, cycles: true },
  { name: 'RP2350 (Pico 2)', ram: 520 * 1024, machine: 'cortex-m4f', hertz: 150e6 },
  { name: 'ESP32-C3', ram: 400 * 1024, machine: 'rv32', hertz: 160e6 },
  { name: 'STM32F405', ram: 192 * 1024, machine: 'cortex-m4f', hertz: 168e6 },
  { name: 'STM32H743', ram: 1024 * 1024, machine: 'cortex-m4f', hertz: 480e6 },
];

// The RAM that a plan takes: the arena, the state, and the program, which compile() writes into RAM.
export const needed = (found) => found.arena + found.state + found.program;

export function drawBoards(found, times) {
  $('step').textContent = `one step: a batch of ${number(found.batch)}`;
  $('boards').replaceChildren(...BOARDS.map((board) => {
    const share = needed(found) / board.ram;
    const bar = element('div', { class: share > 1 ? 'fill over' : 'fill' });
    bar.style.width = `${Math.min(100, 100 * share)}%`;
    return element('tr', {},
      element('th', { scope: 'row' }, board.name),
      element('td', { class: 'n' }, `${board.ram / 1024} KB`),
      element('td', {}, element('div', { class: 'budget' }, bar)),
      element('td', { class: 'n' }, `${(100 * share).toFixed(1)} %`),
      element('td', { class: 'n' }, time(board, times)));
  }));
}

function time(board, times) {
  const count = times[board.machine];
  if (count == null) {
    return 'not estimated';
  }
  const ms = (1000 * count) / board.hertz;
  return `${board.cycles ? '' : '\u2248 '}${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} ms`;
}
