// Bars of RAM, and the arena's buffers over a step.

import { element, number, picture } from './dom.js';

const KINDS = {
  a: ['activation', 'kind-a'], A: ['activation kept for the backward pass', 'kind-k'], e: ['error', 'kind-e'],
  g: ['gradient', 'kind-g'], s: ['scratch', 'kind-s'], '?': ['other', 'kind-s'],
};
const WIDTH = 640;
const HEIGHT = 220;

export function drawRam(place, found) {
  const { weights } = found.totals;
  const parts = [
    ['arena', found.arena, 'kind-a'], ['weights', weights, 'kind-w'],
    ['optimizer and scales', found.state - weights, 'kind-o'], ['program', found.program, 'kind-s'],
  ];
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  place.replaceChildren(...parts.map(([name, value, kind]) => {
    const part = element('div', { class: `part ${kind}`, title: `${name}: ${number(value)} bytes` });
    part.style.flexGrow = value / total;
    return part;
  }));
  place.setAttribute('aria-label', parts.map(([name, value]) => `${name} ${number(value)} bytes`).join(', '));
  place.nextElementSibling.replaceChildren(...parts.map(([name, value, kind]) => element('li', {},
    element('span', { class: `key ${kind}` }), `${name} ${number(value)}`)));
}

// Instructions from left to right, bytes from the bottom up.
export function drawArena(place, found) {
  const count = Math.max(1, ...found.marks.map(([end]) => end));
  const x = (index) => (WIDTH * index) / count;
  const y = (at) => (HEIGHT * at) / Math.max(found.arena, 1);
  const boxes = found.lives.map(([start, end, first, last, kind]) => picture('rect', {
    x: x(first), y: HEIGHT - y(end), width: x(last + 1 - first), height: y(end - start), class: KINDS[kind][1],
  }, picture('title', {}, `${KINDS[kind][0]}, ${number(end - start)} bytes, instructions ${first} to ${last}`)));
  const marks = found.marks.map(([end, name], index) => picture('g', {},
    picture('line', { x1: x(end), x2: x(end), y1: 0, y2: HEIGHT, class: 'mark' }),
    picture('text', { x: x(end) - 4, y: 12 + 12 * index, 'text-anchor': 'end' }, name)));
  place.replaceChildren(picture('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': `${found.lives.length} buffers in ${number(found.arena)} bytes`,
  }, ...boxes, ...marks));
  place.nextElementSibling.replaceChildren(...['a', 'A', 'e', 'g', 's'].map((kind) => element('li', {},
    element('span', { class: `key ${KINDS[kind][1]}` }), KINDS[kind][0])));
}
