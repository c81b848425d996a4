// Themes, widths, keyboard and the policy; browsers that lack something.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { board, learned, network, planned } from './common.mjs';

// After learn(): what training draws is there.
export async function access(page, { pictures }, { require }) {
  const found = { violations: [], wide: [] };
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  for (const [tab, source] of [['plan'], ['learn'], ['board'], ['learn', 'sound']]) {
    await page.click(`#tab-${tab}`);
    if (source) {
      await learned(page, () => page.selectOption('#source', source));
    }
    for (const [colorScheme, width] of [['light', 1160], ['dark', 390]]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      const { violations } = await page.evaluate(() => window.axe.run());
      found.violations.push(...violations.map(
        ({ id, nodes: [node] }) => [colorScheme, tab, id, node.html, node.failureSummary]));
      found.wide.push(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
      if (pictures) {
        await page.screenshot({ path: join(pictures, `${tab}-${source ?? ''}-${colorScheme}.png`), fullPage: true });
      }
    }
  }
  await page.setViewportSize({ width: 1160, height: 900 });
  await page.focus('#tab-plan');
  await page.keyboard.press('ArrowRight');
  found.chosen = await page.evaluate(() => [document.activeElement.id, document.getElementById('learn').hidden]);
  await page.click('#tab-plan');
  await network(page, 1);
  await planned(page, async () => {
    await page.focus('#layers select');
    await page.keyboard.press('End');
  });
  found.focus = await page.evaluate(() => [document.activeElement.dataset.layer, document.activeElement.value]);
  await planned(page, () => page.click('#freeze'));
  const hint = () => page.isHidden('#flash-hint');
  const choices = await page.locator('#layers select').evaluateAll((all) => all.map((each) => each.value));
  found.frozen = [choices, await hint()];
  await planned(page, () => page.check('#flash'));
  found.frozen.push(await hint());
  found.policy = await page.getAttribute('meta[http-equiv=Content-Security-Policy]', 'content');
  return found;
}

// A board that says nothing; browsers without Web Serial, and without WebAssembly.
export async function without(page, options, { open }) {
  await page.click('#tab-board');
  await page.evaluate(() => { window.silent = true; });
  const silent = board(page, '#connect');
  const serial = await open({ script: 'delete Navigator.prototype.serial; delete navigator.serial' });
  await serial.click('#tab-board');
  const bare = await open({ script: 'delete window.WebAssembly', complete: false });
  await bare.waitForSelector('#say.wrong');
  return {
    silent: await silent,
    serial: [await serial.isDisabled('#connect'), await serial.innerText('#no-serial')],
    bare: await bare.innerText('#say'),
    early: await bare.locator('#plan table:visible, #ram:visible, #plan details:visible').count(),
  };
}
