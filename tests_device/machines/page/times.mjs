// Times of this machine, in ms: bench/costs/page.py writes them.

import { HEART, board, draw, network, planned } from './common.mjs';

const ACTION = 300; // ms between what a person does
const READING = 2000; // of a new view

export async function times(page, { repeats }, { open, browser }) {
  const found = { browser: browser.version(), starts: [], toggles: {}, prompt: [] };
  for (let i = 0; i < repeats; i++) {
    const fresh = await open();
    found.starts.push(await fresh.evaluate(
      () => ['ready', 'first'].map((name) => Number(document.body.dataset[name]))));
    await fresh.context().close();
  }
  const titles = await page.locator('#network option').allInnerTexts();
  for (const [index, title] of titles.slice(0, -1).entries()) {
    await network(page, index);
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
  for (let i = 0; i < repeats; i++) {
    found.prompt.push(await board(page, '#start-virtual'));
  }
  return found;
}

// From the link to a class that is taught and recognised, by what the page shows alone; mouse and keyboard.
export async function newcomer(page, options, { open }) {
  const began = performance.now();
  const fresh = await open();
  const found = { clicks: 0, strokes: 0, letters: 0, steps: [] };
  const then = async (what, action, wait = ACTION) => {
    await fresh.waitForTimeout(wait);
    await action();
    found.steps.push(`${((performance.now() - began) / 1000).toFixed(1)} s: ${what}`);
  };
  const click = (name, wait) => then(`click ${String(name).replace(/[^\w ]/g, '')}`, () => {
    found.clicks++;
    return fresh.locator('button:visible', { hasText: name }).click();
  }, wait);
  const sign = (wait) => then('draw a heart', () => {
    found.strokes++;
    return draw(fresh, HEART);
  }, wait);
  await click('Train it here', READING);
  await click(/^Train$/, READING);
  await fresh.waitForSelector('#learned:has-text("Now draw a sign")');
  found.visible = await fresh.evaluate(() => ['pad', 'label', 'teach'].map((name) => {
    const { top, bottom } = document.getElementById(name).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  }));
  await sign(READING);
  await then('click the name', () => { found.clicks++; return fresh.click('#label'); });
  await then('type heart', () => { found.letters += 5; return fresh.keyboard.type('heart', { delay: ACTION / 2 }); });
  for (let i = 0; i < 3; i++) {
    if (i) {
      await sign();
    }
    await click(/^Teach$/);
    await fresh.waitForSelector(`#learned:has-text("${i < 2 ? `${i + 1} of 3` : 'knows 11 classes'}")`);
  }
  await sign(READING);
  await fresh.waitForSelector('#answers:has-text("that you taught says")');
  return { ...found, seconds: (performance.now() - began) / 1000, says: await fresh.innerText('#answers') };
}
