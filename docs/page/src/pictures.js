// Pictures of training: curves, answers by class, weights and activations.

import uPlot from 'uplot';
import { element } from './dom.js';

const HELD = 'What was held back: a row per class, a column per answer';
const drawn = new Map(); // what curves() was given, by place: drawn again for another width or theme

function again() {
  for (const [place, [epochs, series]] of drawn) {
    if (place.clientWidth && place.childElementCount) {
      curves(place, epochs, series);
    }
  }
}
addEventListener('resize', again);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);

// `series`: [name, values, colour of style.css, scale: "%" or another, each of which has an axis].
export function curves(place, epochs, series) {
  drawn.set(place, [epochs, series]);
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const line = { stroke: color('--line'), width: 1 };
  const axis = { stroke: color('--text'), grid: line, ticks: line };
  const scales = [...new Set(series.map(([, , , scale]) => scale))];
  place.replaceChildren();
  new uPlot({
    width: Math.min(620, place.clientWidth),
    height: 240,
    scales: {
      x: { time: false },
      '%': { range: [0, 100] },
      loss: { range: (_, low, high) => [0, Math.max(high, 0.1)] },
    },
    axes: [
      { ...axis, label: 'epoch' },
      ...scales.map((scale, index) => ({ ...axis, scale, label: scale, side: index ? 1 : 3 })),
    ],
    series: [{ label: 'epoch' }, ...series.map(([label, , name, scale], index) => ({
      label, scale, stroke: color(name), width: 2, dash: [[], [8, 4], [2, 4]][index % 3],
    }))],
  }, [epochs, ...series.map(([, values]) => values)], place);
}

// `counts`: a row for each class, a column for each answer.
export function drawConfusion(place, counts, names, caption = HELD) {
  const most = Math.max(...counts.flat());
  const columns = names.map((name) => element('th', { scope: 'col' }, name));
  const head = element('tr', {}, element('td', {}, ''), ...columns);
  place.replaceChildren(element('caption', {}, caption), head,
    ...counts.map((row, label) => {
      const cells = row.map((count) => {
        const cell = element('td', { class: 'n heat' }, count);
        cell.style.setProperty('--share', count / most);
        return cell;
      });
      return element('tr', {}, element('th', { scope: 'row' }, names[label]), ...cells);
    }));
}

// Numbers of -1 to 1 as pixels, rows of `width`: orange below 0, blue above.
export function drawMaps(place, maps, width, name) {
  place.replaceChildren(...maps.map((values, index) => {
    const canvas = element('canvas', {
      width, height: Math.ceil(values.length / (width || 1)),
      class: maps.length === 1 ? 'filter wide' : 'filter', role: 'img',
      'aria-label': maps.length > 1 ? `${name}, channel ${index + 1}` : name,
    });
    const context = canvas.getContext('2d');
    values.forEach((value, at) => {
      context.fillStyle = `hsl(${value < 0 ? 20 : 210} 80% ${90 - 60 * Math.abs(value)}%)`;
      context.fillRect(at % width, Math.floor(at / width), 1, 1);
    });
    return canvas;
  }));
}
