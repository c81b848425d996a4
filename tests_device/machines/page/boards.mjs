// The Board tab: a virtual Pico, and one with MicroPython's own firmware by Web Serial.

import { board } from './common.mjs';

export async function boards(page) {
  await page.click('#tab-board');
  const found = { virtual: await board(page, '#start-virtual') };
  found.ran = await board(page, '#run-board');
  found.curves = await page.locator('#board-curves .u-series').allInnerTexts();
  found.frozen = await board(page, '#install');
  return found;
}

export async function installs(page) {
  await page.click('#tab-board');
  await page.evaluate(() => { window.firmware = 'stock.uf2'; });
  const found = { serial: await board(page, '#connect') };
  found.baudRate = await page.evaluate(() => [window.baudRate, window.signals]);
  found.without = await board(page, '#run-board');
  await page.route('**/install/armv6m/_odt.mpy', (route) => route.fulfill({ body: 'M' }));
  found.damaged = await board(page, '#install');
  await page.unroute('**/install/armv6m/_odt.mpy');
  found.installed = await board(page, '#install');
  found.ran = await board(page, '#run-board');
  found.again = await board(page, '#install');
  const copied = (name, text) => board(page, () => page.setInputFiles('#board-file', {
    name, mimeType: 'text/plain', buffer: Buffer.from(text),
  }));
  found.copied = [await copied('<i>x.txt', 'hello'), await page.innerText('#board-files')];
  found.removed = [
    await board(page, '#board-files li:has-text("x.txt") button'), await page.innerText('#board-files'),
  ];
  await page.evaluate(() => window.pull());
  found.pulled = await board(page, '#run-board');
  await board(page, '#connect');
  await page.evaluate(() => setTimeout(() => window.pull(), 700));
  found.pulledLater = await board(page, '#install');
  return found;
}
