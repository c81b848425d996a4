// A pad to draw on with mouse, finger or arrow keys: 8x8 pixels of 0 to 16, as the digits have.

const SIZE = 8;
const CELL = 24;
const PEN = 0.75; // the radius of a stroke, in pixels
const PAUSE = 1500; // ms after a stroke: the next one begins a new drawing, if the answer is there

export class Pad {
  // `changed` is called after each stroke.
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    canvas.width = canvas.height = SIZE * CELL;
    this.cursor = [3, 3];
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      if (this.answered && performance.now() - this.ended > PAUSE) {
        this.clear();
      }
      this.last = this.place(event);
      this.stroke(this.last, this.last);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (this.last) {
        const next = this.place(event);
        this.stroke(this.last, next);
        this.last = next;
      }
    });
    for (const end of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(end, () => {
        if (this.last) {
          this.last = null;
          this.ended = performance.now();
          this.changed();
        }
      });
    }
    canvas.addEventListener('keydown', (event) => this.key(event));
    canvas.addEventListener('focus', () => this.paint());
    canvas.addEventListener('blur', () => this.paint());
    this.clear();
  }

  get empty() {
    return this.values.every((value) => value === 0);
  }

  pixels() {
    return [...this.values].map((value) => Math.round(value));
  }

  clear() {
    this.answered = false; // Learn sets it when the answer to this drawing is shown
    this.ended = -Infinity; // when a stroke did
    this.values = new Float32Array(SIZE * SIZE);
    this.paint();
  }

  load(pixels) {
    this.clear();
    this.values = Float32Array.from(pixels);
    this.paint();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [SIZE * (event.clientX - box.left) / box.width, SIZE * (event.clientY - box.top) / box.height];
  }

  // Each pixel becomes as dark as the stroke is near.
  stroke([x0, y0], [x1, y1]) {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    for (let y = 0; y < SIZE; y++) {
      for (let x = 0; x < SIZE; x++) {
        const [px, py] = [x + 0.5 - x0, y + 0.5 - y0];
        const along = Math.max(0, Math.min(1, (px * (x1 - x0) + py * (y1 - y0)) / length ** 2));
        const distance = Math.hypot(px - along * (x1 - x0), py - along * (y1 - y0));
        const ink = 16 * Math.max(0, Math.min(1, 1.5 - distance / PEN));
        const at = SIZE * y + x;
        this.values[at] = Math.max(this.values[at], ink);
      }
    }
    this.paint();
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) {
      this.cursor = this.cursor.map((at, axis) => Math.max(0, Math.min(SIZE - 1, at + step[axis])));
    } else if (event.key === ' ' || event.key === 'Enter') {
      const at = SIZE * this.cursor[1] + this.cursor[0];
      this.values[at] = this.values[at] ? 0 : 16;
      this.changed();
    } else {
      return;
    }
    event.preventDefault();
    this.paint();
  }

  paint() {
    const context = this.canvas.getContext('2d');
    this.values.forEach((value, at) => {
      const shade = Math.round(255 - 15 * value);
      context.fillStyle = `rgb(${shade} ${shade} ${shade})`;
      context.fillRect(CELL * (at % SIZE), CELL * Math.floor(at / SIZE), CELL, CELL);
    });
    if (document.activeElement === this.canvas && this.canvas.matches(':focus-visible')) {
      context.strokeStyle = '#d55e00';
      context.lineWidth = 3;
      context.strokeRect(CELL * this.cursor[0] + 1, CELL * this.cursor[1] + 1, CELL - 3, CELL - 3);
    }
  }
}
