// What scenarios share: how to read and use the page.

const turn = (page) => page.evaluate(() => Number(document.body.dataset.planned));

// Does what plans again, and waits until the page has.
export async function planned(page, action) {
  const before = await turn(page);
  await action();
  await page.waitForFunction((turn) => Number(document.body.dataset.planned) > turn, before);
}

// Chooses one of the planner's networks by its place in the list.
export function network(page, index) {
  return planned(page, () => page.selectOption('#network', `${index}`));
}

export function link(page, request) {
  return planned(page, () => page.evaluate((hash) => { location.hash = hash; }, `#plan=${packed(request)}`));
}

// Does what the Learn tab takes a while for, and waits until it has ended; returns what it says.
export async function learned(page, action) {
  await page.evaluate(() => { delete document.body.dataset.learning; });
  await action();
  await page.waitForSelector('body[data-learning=idle]');
  return page.innerText('#learned');
}

const packed = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function figures(page) {
  return page.evaluate(() => ({
    said: document.getElementById('say').textContent,
    code: document.getElementById('code').textContent,
    figures: Object.fromEntries([...document.querySelectorAll('[data-figure]')].map(
      (cell) => [cell.dataset.figure, Number(cell.textContent.replaceAll(',', ''))])),
    rows: [...document.querySelectorAll('#layers tr')].map(
      ({ cells }) => [0, 2, 3, 4, 5, 6].map((index) => cells[index].textContent)),
    network: document.getElementById('network').value,
    share: document.querySelector('#boards td:nth-child(4)').textContent,
    step: document.getElementById('step').textContent,
  }));
}

// A stroke over the drawing pad, by points of 0 to 1.
export async function draw(page, points) {
  await page.locator('#pad').scrollIntoViewIfNeeded();
  const box = await page.locator('#pad').boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(points[0]));
  await page.mouse.down();
  for (const point of points.slice(1)) {
    await page.mouse.move(...at(point), { steps: 4 });
  }
  await page.mouse.up();
}

export const HEART = [[0.5, 0.9], [0.1, 0.4], [0.3, 0.15], [0.5, 0.35], [0.7, 0.15], [0.9, 0.4], [0.5, 0.9]];

// Of the left, the right and the middle of the pad.
export const STROKES = [0.2, 0.8, 0.56].map((x) => [[x, 0.1], [x, 0.9]]);

// A Web Serial port whose board is the emulated Pico, or with a board that is silent or whose cable is pulled.
export const SERIAL = `(() => {
  const bytesOf = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const port = async () => {
    const [bootrom, firmware] = [await bytesOf('bootrom.bin'), await bytesOf(window.firmware ?? 'firmware.uf2')];
    const worker = new Worker('pico.js', { type: 'module' });
    let controller;
    const readable = new ReadableStream({ start(made) { controller = made; } });
    const connected = new Promise((resolve) => {
      worker.onmessage = ({ data }) => data.data ? controller.enqueue(data.data) : resolve();
    });
    worker.postMessage({ bootrom, firmware });
    window.pull = () => { worker.terminate(); controller.error(new Error('the device has been lost')); };
    return {
      readable, writable: new WritableStream({ write(bytes) { worker.postMessage({ send: bytes }); } }),
      async open({ baudRate }) { window.baudRate = baudRate; await connected; },
      async setSignals(signals) { window.signals = signals; },
      async close() { worker.terminate(); },
    };
  };
  const silent = async () => ({
    readable: new ReadableStream(), writable: new WritableStream(), async open() {}, async setSignals() {},
      async close() {},
  });
  Object.defineProperty(navigator, 'serial', { value: { requestPort: () => window.silent ? silent() : port() } });
})()`;

export async function board(page, button) {
  await page.evaluate(() => { delete document.body.dataset.device; });
  await (typeof button === 'string' ? page.click(button) : button());
  await page.waitForFunction(() => ['ready', 'failed'].includes(document.body.dataset.device));
  return page.innerText('#device');
}

