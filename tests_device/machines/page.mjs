// Drives the page in headless Chromium: node page.mjs <build> <scenario> ..., with {scenario: options} on stdin.
//
// The scenarios use one page, one after the other. Prints a JSON object: what each found, or {failed: why}, and
// {requests, errors}: the origins that were asked, and the console's errors.

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import * as access from './page/access.mjs';
import * as boards from './page/boards.mjs';
import { SERIAL } from './page/common.mjs';
import * as learn from './page/learn.mjs';
import * as plan from './page/plan.mjs';
import * as times from './page/times.mjs';

const SCENARIOS = { ...access, ...boards, ...learn, ...plan, ...times };
const [build, ...scenarios] = process.argv.slice(2);
const given = JSON.parse(readFileSync(0, 'utf8') || '{}');
const require = createRequire(join(build, 'page_js', 'package.json'));
const { chromium } = require('playwright-core');
const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
  '.json': 'application/json',
};
// Where window.hurry is set, a script that loops is stopped after a second, in place of 20.
const HURRY = `(() => {
  const later = window.setTimeout;
  window.setTimeout = (call, ms, ...rest) => later(call, window.hurry && ms === 20000 ? 1000 : ms, ...rest);
})()`;

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
const args = ['--no-sandbox'];
if (given.sound) {
  args.push('--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${given.sound}`);
}
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
const requests = new Set();
const errors = [];

async function open({ script = SERIAL, complete = true } = {}) {
  const context = await browser.newContext({ viewport: { width: 1160, height: 900 } });
  context.setDefaultTimeout(60000);
  context.on('request', (request) => requests.add(new URL(request.url()).origin));
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error.stack)));
  await page.addInitScript(HURRY);
  await page.addInitScript(script);
  await page.goto(`${origin}/`);
  if (complete) {
    await page.waitForSelector('body[data-planned]');
    await page.waitForSelector('body[data-complete]');
  }
  return page;
}

try {
  const page = await open();
  const found = {};
  for (const name of scenarios) {
    const began = performance.now();
    try {
      found[name] = await SCENARIOS[name](page, given[name] ?? {}, { open, browser, require });
    } catch (error) {
      found[name] = { failed: String(error.stack) };
    }
    console.error(`${name}: ${Math.round(performance.now() - began)} ms`);
  }
  console.log(JSON.stringify({ ...found, requests: [...requests].map((each) => each.replace(origin, 'own')), errors }));
} finally {
  await browser.close();
  server.close();
}
