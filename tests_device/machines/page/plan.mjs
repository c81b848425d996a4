// The planner: its figures, and what it says of what is wrong.

import { figures, link, network, planned } from './common.mjs';

// Every example by the list, then networks by links.
export async function plan(page, { requests }) {
  const found = { examples: [], links: [] };
  const count = await page.locator('#network option').count() - 1;
  for (let index = 0; index < count; index++) {
    await network(page, index);
    await page.waitForFunction(() => document.body.dataset.timed === document.body.dataset.planned);
    found.examples.push({ ...await figures(page), times: await page.locator('#boards td:last-child').allInnerTexts() });
  }
  for (const request of requests) {
    await link(page, request);
    found.links.push(await figures(page));
  }
  return found;
}

// Files, scripts and links that are wrong; a loop is stopped after LIMIT of plan.js, which window.hurry shortens.
export async function wrong(page, { files, scripts, options }) {
  const found = {};
  for (const [name, content] of Object.entries(files)) {
    await planned(page, () => page.setInputFiles('#model-file', {
      name, mimeType: 'application/octet-stream', buffer: Buffer.from(content, 'base64'),
    }));
    found[name] = await figures(page);
  }
  for (const [name, source] of Object.entries(scripts)) {
    await page.evaluate((loops) => { window.hurry = loops; }, name === 'loop');
    await link(page, { source, choices: {}, options });
    found[name] = await figures(page);
  }
  await planned(page, () => page.evaluate(() => { location.hash = '#plan=none'; }));
  found.link = await page.evaluate(() => document.getElementById('network').value);
  found.script = await page.evaluate(() => window.injected);
  await network(page, 2);
  found.afterwards = await figures(page);
  return found;
}
