// Drives the page in headless Chromium: node page.mjs <build> <scenario>, with its options as JSON on stdin.
//
// Prints a JSON object: what the scenario found, and {requests, errors}: the origins that were
// asked, and the console's errors.

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

const [build, scenario] = process.argv.slice(2);
const given = JSON.parse(readFileSync(0, 'utf8') || '{}');
const require = createRequire(join(build, 'page_js', 'package.json'));
const { chromium } = require('playwright-core');
const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
  '.json': 'application/json',
};

const server = createServer((request, answer) => {
  const path = new URL(request.url, 'http://page').pathname;
  const file = path === '/stock.uf2' ? given.stock : join(build, 'page', path === '/' ? 'index.html' : path);
  if (!existsSync(file)) {
    answer.writeHead(404).end();
    return;
  }
  answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
  createReadStream(file).pipe(answer);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const requests = new Set();
const errors = [];

async function open({ hash = '', options = {}, script = null, complete = true } = {}) {
  const context = await browser.newContext({ viewport: { width: 1160, height: 900 }, ...options });
  context.setDefaultTimeout(90000);
  context.on('request', (request) => requests.add(new URL(request.url()).origin));
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error.stack)));
  if (script) {
    await page.addInitScript(script);
  }
  await page.goto(`${origin}/${hash}`);
  if (complete) {
    await page.waitForSelector('body[data-planned]');
    await page.waitForSelector('body[data-complete]');
  }
  return page;
}

const turn = (page) => page.evaluate(() => Number(document.body.dataset.planned));

// Does what plans again, and waits until the page has.
async function planned(page, action) {
  const before = await turn(page);
  await action();
  await page.waitForFunction((turn) => Number(document.body.dataset.planned) > turn, before);
}

function figures(page) {
  return page.evaluate(() => ({
    said: document.getElementById('say').textContent,
    code: document.getElementById('code').textContent,
    figures: Object.fromEntries([...document.querySelectorAll('[data-figure]')].map(
      (cell) => [cell.dataset.figure, Number(cell.textContent.replaceAll(',', ''))])),
    rows: [...document.querySelectorAll('#layers tr')].map(
      ({ cells }) => [0, 2, 3, 4, 5, 6].map((index) => cells[index].textContent)),
    network: document.getElementById('network').value,
  }));
}

const idle = (page) => page.waitForSelector('body[data-learning=idle]');
const packed = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

// A stroke over the drawing pad, by points of 0 to 1.
async function draw(page, points) {
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

const HEART = [[0.5, 0.9], [0.1, 0.4], [0.3, 0.15], [0.5, 0.35], [0.7, 0.15], [0.9, 0.4], [0.5, 0.9]];

// A Web Serial port whose board is the emulated Pico, or with a board that is silent or whose cable is pulled.
const SERIAL = `(() => {
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

async function board(page, button) {
  await page.evaluate(() => { delete document.body.dataset.device; });
  await page.click(button);
  await page.waitForFunction(() => ['ready', 'failed'].includes(document.body.dataset.device));
  return page.innerText('#device');
}

const SCENARIOS = {
  // Every example by the list, then networks by links.
  async plan() {
    const page = await open();
    const found = { examples: [], links: [] };
    const count = await page.locator('#network option').count() - 1;
    for (let index = 0; index < count; index++) {
      await planned(page, () => page.evaluate((value) => {
        document.getElementById('network').value = value;
        document.getElementById('network').dispatchEvent(new Event('change'));
      }, `${index}`));
      await page.waitForFunction(() => document.body.dataset.timed === document.body.dataset.planned);
      found.examples.push({ ...await figures(page), time: await page.innerText('#boards tr:first-child td:last-child') });
    }
    for (const request of given.requests) {
      await planned(page, () => page.evaluate((hash) => { location.hash = hash; }, `#plan=${packed(request)}`));
      found.links.push(await figures(page));
    }
    return found;
  },

  async learn() {
    const page = await open();
    await page.click('#tab-learn');
    await page.click('#train');
    await page.waitForFunction(() => document.body.dataset.learning === 'idle');
    const found = {
      digest: await page.innerText('#digest'),
      counts: await page.locator('#confusion td.heat').allInnerTexts(),
      filters: await page.locator('#filters canvas').count(),
    };
    await draw(page, HEART);
    await page.waitForSelector('#answers p');
    found.before = await page.innerText('#answers');
    await page.fill('#label', given.label);
    for (let i = 0; i < 3; i++) {
      if (i) {
        await draw(page, HEART);
      }
      await page.click('#teach');
      await idle(page);
    }
    found.learned = await page.innerText('#learned');
    await page.evaluate(() => document.getElementById('answers').replaceChildren());
    await draw(page, HEART);
    await page.waitForSelector('#answers p:nth-child(2)');
    found.after = await page.innerText('#answers');
    found.bold = await page.locator('#answers b, #learned b').count();
    return found;
  },

  // Tables of the person's own, one after the other.
  async tables() {
    const page = await open();
    await page.click('#tab-learn');
    const found = {};
    for (const [name, text] of Object.entries(given.tables)) {
      await page.evaluate(() => { delete document.body.dataset.learning; });
      await page.setInputFiles('#table-file', { name, mimeType: 'text/csv', buffer: Buffer.from(text) });
      await idle(page);
      found[name] = { said: await page.innerText('#learned') };
      if (!given.trained.includes(name)) {
        continue;
      }
      await page.click('#train');
      await page.waitForFunction(() => document.body.dataset.learning === 'idle');
      Object.assign(found[name], {
        learned: await page.innerText('#learned'),
        digest: await page.innerText('#digest'),
        names: await page.locator('#confusion th[scope=row]').allInnerTexts(),
        markup: await page.locator('#confusion i, #learned i').count(),
        teach: await page.isDisabled('#teach'),
      });
    }
    await page.evaluate(() => {
      document.getElementById('network').value = '1';
      document.getElementById('network').dispatchEvent(new Event('change'));
    });
    await page.click('#train');
    await page.waitForFunction(() => document.body.dataset.learning === 'idle');
    found.digits = await page.innerText('#learned');
    return found;
  },

  async boards() {
    const page = await open({ script: SERIAL });
    await page.click('#tab-board');
    const found = { virtual: await board(page, '#start-virtual') };
    found.ran = await board(page, '#run-board');
    found.serial = await board(page, '#connect');
    found.baudRate = await page.evaluate(() => [window.baudRate, window.signals]);
    found.ranBySerial = await board(page, '#run-board');
    await page.evaluate(() => setTimeout(() => window.pull(), 300));
    await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 600); }));
    found.pulled = await board(page, '#run-board');
    await page.evaluate(() => { window.silent = true; });
    found.silent = await board(page, '#connect');
    const without = await open({ script: 'delete Navigator.prototype.serial' });
    await without.click('#tab-board');
    found.without = [await without.isDisabled('#connect'), await without.innerText('#no-serial')];
    return found;
  },

  // On a Pico with MicroPython's own firmware, by Web Serial.
  async installs() {
    const page = await open({ script: SERIAL });
    await page.click('#tab-board');
    await page.evaluate(() => { window.firmware = 'stock.uf2'; });
    const found = { serial: await board(page, '#connect') };
    found.without = await board(page, '#run-board');
    found.installed = await board(page, '#install');
    found.ran = await board(page, '#run-board');
    found.again = await board(page, '#install');
    await page.evaluate(() => { window.firmware = 'firmware.uf2'; });
    await board(page, '#connect');
    found.frozen = await board(page, '#install');
    await page.evaluate(() => { window.firmware = 'stock.uf2'; });
    await board(page, '#connect');
    await page.evaluate(() => setTimeout(() => window.pull(), 1500));
    found.pulled = await board(page, '#install');
    await board(page, '#connect');
    await page.route('**/install/armv6m/_odt.mpy', (route) => route.fulfill({ body: 'M' }));
    found.damaged = await board(page, '#install');
    return found;
  },

  // What goes wrong is said, and the page works on.
  async wrong() {
    const page = await open();
    const found = {};
    const drop = (name, content) => planned(page, () => page.setInputFiles('#model-file', {
      name, mimeType: 'application/octet-stream', buffer: Buffer.from(content, 'base64'),
    }));
    for (const [name, content] of Object.entries(given.files)) {
      await drop(name, content);
      found[name] = await figures(page);
    }
    for (const [name, source] of Object.entries(given.scripts)) {
      await planned(page, () => page.evaluate((hash) => { location.hash = hash; },
        `#plan=${packed({ source, choices: {}, options: given.options })}`));
      found[name] = await figures(page);
    }
    found.script = await page.evaluate(() => window.injected);
    await planned(page, () => page.evaluate(() => {
      document.getElementById('network').value = '2';
      document.getElementById('network').dispatchEvent(new Event('change'));
    }));
    found.afterwards = await figures(page);
    return found;
  },

  async access() {
    const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
    const found = { violations: [], wide: [] };
    for (const [colorScheme, width] of [['light', 1160], ['dark', 390]]) {
      const page = await open({ options: { colorScheme, viewport: { width, height: 844 }, bypassCSP: true } });
      for (const tab of ['plan', 'learn', 'board']) {
        await page.click(`#tab-${tab}`);
        if (tab === 'learn' && colorScheme === 'dark') {
          await page.click('#train');
          await page.waitForFunction(() => document.body.dataset.learning === 'idle');
        }
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        found.violations.push(...violations.map(
          ({ id, nodes: [node] }) => [colorScheme, tab, id, node.html, node.failureSummary]));
        found.wide.push(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
        if (given.pictures) {
          await page.screenshot({ path: join(given.pictures, `${tab}-${colorScheme}.png`), fullPage: true });
        }
      }
    }
    const page = await open();
    await page.focus('#tab-plan');
    await page.keyboard.press('ArrowRight');
    found.chosen = await page.evaluate(() => [document.activeElement.id, document.getElementById('learn').hidden]);
    await page.click('#tab-plan');
    await planned(page, async () => {
      await page.focus('#layers select');
      await page.keyboard.press('End');
    });
    found.focus = await page.evaluate(() => [document.activeElement.dataset.layer, document.activeElement.value]);
    found.policy = await page.getAttribute('meta[http-equiv=Content-Security-Policy]', 'content');
    return found;
  },

  // Times of this machine, in ms: what docs/howto/page.md states.
  async times() {
    const found = { browser: browser.version(), starts: [], toggles: {}, prompt: [] };
    for (let i = 0; i < given.repeats; i++) {
      const page = await open();
      found.starts.push(await page.evaluate(
        () => ['ready', 'first'].map((name) => Number(document.body.dataset[name]))));
      await page.context().close();
    }
    const page = await open();
    const titles = await page.locator('#network option').allInnerTexts();
    for (const [index, title] of titles.slice(0, -1).entries()) {
      await planned(page, () => page.selectOption('#network', `${index}`));
      const times = [];
      const select = page.locator('#layers select').first();
      for (const value of ['frozen', '1', 'frozen', '1', 'frozen']) {
        await page.waitForFunction(() => document.body.dataset.timed === document.body.dataset.planned);
        await planned(page, () => select.selectOption(value));
        times.push(await page.evaluate(() => Number(document.body.dataset.took)));
      }
      found.toggles[title] = times;
    }
    await page.click('#tab-board');
    for (let i = 0; i < given.repeats; i++) {
      found.prompt.push(await board(page, '#start-virtual'));
    }
    return found;
  },
};

try {
  const found = await SCENARIOS[scenario]();
  console.log(JSON.stringify({ ...found, requests: [...requests].map((each) => each.replace(origin, 'own')), errors }));
} finally {
  await browser.close();
  server.close();
}
