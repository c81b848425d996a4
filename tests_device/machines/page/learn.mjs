// The Learn tab: digits and a class that is taught, files, recordings of examples and of this device's sensors.

import { HEART, draw, learned } from './common.mjs';

const train = (page) => learned(page, () => page.click('#train'));

export async function learn(page, { label }) {
  await page.click('#tab-plan');
  await page.click('[data-goto=tab-learn]');
  await learned(page, () => page.selectOption('#source', 'sound')); // and back, which proposes the digits' network
  await learned(page, () => page.selectOption('#source', 'digits'));
  const found = { before: [await page.isDisabled('#teach'), await page.innerText('#learned')] };
  found.compared = await learned(page, () => page.click('#compare'));
  found.series = await page.locator('#curves .u-series').allInnerTexts();
  found.trained = await train(page);
  found.digest = await page.innerText('#digest');
  found.counts = await page.locator('#confusion td.heat').allInnerTexts();
  found.pictures = [await page.locator('#filters canvas').count(), await page.locator('#maps canvas').count()];
  const seen = () => page.evaluate(
    () => [...document.querySelectorAll('#maps canvas')].map((each) => each.toDataURL()).join());
  const first = await seen();
  await draw(page, HEART);
  await page.waitForSelector('#answers p');
  found.answer = await page.innerText('#answers');
  found.seen = [await page.innerText('#seen'), await seen() !== first];
  found.unnamed = await learned(page, () => page.click('#teach'));
  await page.fill('#label', label);
  for (let i = 0; i < 3; i++) {
    if (i) {
      await draw(page, HEART);
    }
    found.taught = await learned(page, () => page.click('#teach'));
  }
  await page.evaluate(() => document.getElementById('answers').replaceChildren());
  await draw(page, HEART);
  await page.waitForSelector('#answers p:nth-child(2)');
  found.after = await page.innerText('#answers');
  found.bold = await page.locator('#answers b, #learned b').count();
  return found;
}

// Files of a person's own, dropped on the page one after the other while the first tab is shown.
export async function tables(page, { files, trained }) {
  const found = {};
  for (const [name, data] of Object.entries(files)) {
    await page.click('#tab-plan');
    const said = await learned(page, () => page.evaluate(([name, data]) => {
      const dropped = new DataTransfer();
      dropped.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name));
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, cancelable: true }));
    }, [name, data]));
    found[name] = { said };
    if (trained.includes(name)) {
      const result = await train(page);
      Object.assign(found[name], {
        learned: result,
        digest: await page.innerText('#digest'),
        names: await page.locator('#confusion th[scope=row]').allInnerTexts(),
        markup: await page.locator('#confusion i, #learned i').count(),
        drawing: await page.isVisible('#pad'),
      });
    }
  }
  for (const kind of ['gesture', 'keyword']) {
    const said = await learned(page, () => page.selectOption('#source', kind));
    found[kind] = { said, learned: await train(page), digest: await page.innerText('#digest') };
  }
  return found;
}

// Samples of an accelerometer at 60 Hz, all at once.
function shaken(page, hertz, count) {
  return page.evaluate(([hertz, count]) => {
    window.moment ??= 0;
    for (let i = 0; i < count; i++) {
      window.moment += 1000 / 60;
      const [turn, noise] = [2 * Math.PI * hertz * window.moment / 1000, Math.sin(window.moment ** 2)];
      const event = new DeviceMotionEvent('devicemotion', {
        accelerationIncludingGravity: { x: 3 * Math.sin(turn), y: 9.8 + 0.3 * noise, z: hertz * Math.cos(turn) },
      });
      Object.defineProperty(event, 'timeStamp', { value: window.moment });
      dispatchEvent(event);
    }
  }, [hertz, count]);
}

export async function sensors(page, { classes }) {
  const found = {};
  const record = async (name, during) => {
    await page.fill('#class-name', name);
    return learned(page, async () => { await page.click('#record'); await during?.(); });
  };
  await learned(page, () => page.selectOption('#source', 'sound'));
  found.unnamed = await record('');
  found.denied = await record('one');
  await page.context().grantPermissions(['microphone']);
  found.sound = await record('one', async () => {
    await page.waitForFunction(() => document.getElementById('progress').value > 0.2);
    await page.click('#record');
  });
  found.few = await train(page);
  await learned(page, () => page.selectOption('#source', 'motion'));
  found.still = await record('wave');
  found.motion = [];
  for (const [name, hertz] of classes) {
    found.motion.push(await record(name, async () => {
      await page.waitForTimeout(50); // until it listens
      await shaken(page, hertz, 700);
    }));
  }
  found.listed = await page.innerText('#classes');
  found.trained = await train(page);
  found.heard = [];
  await page.click('#recognise');
  for (const [name, hertz] of classes) {
    await page.waitForTimeout(50);
    await shaken(page, hertz, 400);
    await page.waitForFunction((name) => document.getElementById('heard').textContent.startsWith(name), name);
    found.heard.push(await page.innerText('#heard'));
  }
  await learned(page, () => page.click('#recognise'));
  found.bold = await page.locator('#classes b, #heard b').count();
  await page.click('#classes button');
  await page.waitForFunction(() => document.querySelectorAll('#classes li').length === 1);
  return found;
}
