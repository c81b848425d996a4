// The Board tab: a virtual Pico, and one with MicroPython's own firmware by Web Serial.

import { join } from 'node:path';
import { HEART, board, draw, learned, planned } from './common.mjs';

export async function boards(page) {
  await page.click('#tab-board');
  const main = () => page.locator('#board button.main').evaluateAll((all) => all.map((each) => each.id));
  const found = { main: [await main()], virtual: await board(page, '#start-virtual') };
  found.main.push(await main());
  found.ran = await board(page, '#run-board');
  found.curves = await page.locator('#board-curves .u-series').allInnerTexts();
  found.frozen = [await page.isDisabled('#install'), await page.innerText('#install')];
  await page.selectOption('#board-choice', 'planned');
  await page.waitForSelector('body[data-proposed=planned]');
  found.planned = await board(page, '#run-board');
  found.plannedCurves = await page.locator('#board-curves .u-series').count();
  await page.click('#tab-plan'); // a network whose arena a Pico has no room for
  await planned(page, () => page.fill('#batch_size', '400').then(() => page.press('#batch_size', 'Tab')));
  await page.evaluate(() => { delete document.body.dataset.proposed; });
  await page.click('#tab-board');
  await page.waitForSelector('body[data-proposed=planned]');
  found.large = await board(page, '#run-board');
  await page.selectOption('#board-choice', 'xor');
  await page.waitForSelector('body[data-proposed=xor]');
  return found;
}

// The pictures of docs/pictures, in a folder, as large as the window: bench/examples/page_pictures.py makes them smaller.
export async function pictures(page, { folder }, { open }) {
  const fresh = await open();
  const shot = async (name, height) => {
    await fresh.setViewportSize({ width: 1160, height });
    await fresh.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
    await fresh.screenshot({ path: join(folder, name) });
  };
  await fresh.waitForFunction(() => document.body.dataset.timed === document.body.dataset.planned);
  await shot('page.png', 1240);
  await fresh.click('#tab-learn');
  await learned(fresh, () => fresh.click('#train'));
  await fresh.fill('#label', 'heart');
  for (let i = 0; i < 3; i++) {
    await draw(fresh, HEART);
    await learned(fresh, () => fresh.click('#teach'));
  }
  await draw(fresh, HEART);
  await fresh.waitForSelector('#answers p');
  await shot('page_learn.png', 1170);
  await fresh.click('#tab-board');
  await board(fresh, '#start-virtual');
  await board(fresh, '#run-board');
  await shot('page_board.png', 1290);
  return {};
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
