// The Learn tab: digits and a class that is taught, files, recordings of examples and of this device's sensors.

import { HEART, STROKES, draw, learned } from './common.mjs';

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
  const answered = () => page.waitForSelector('#answers p');
  const held = await page.evaluate(() => document.getElementById('pad').toDataURL());
  const ink = () => page.evaluate(() => document.getElementById('pad').getContext('2d')
    .getImageData(0, 0, 192, 192).data.filter((shade, at) => at % 4 === 0 && shade < 128).length);
  found.ink = [];
  for (const wait of [0, 0, 1600]) { // a drawing of two strokes; one that begins another drawing
    await page.waitForTimeout(wait);
    await draw(page, STROKES[found.ink.length]);
    await answered();
    found.ink.push(await ink());
  }
  await page.click('#clear');
  found.cleared = [await page.innerText('#answers'), held === await page.evaluate(
    () => document.getElementById('pad').toDataURL())];
  const top = () => page.evaluate(() => document.getElementById('pictures').offsetTop);
  const place = [await top()];
  await draw(page, HEART);
  await answered();
  place.push(await top());
  found.answer = await page.innerText('#answers');
  found.seen = [await page.innerText('#seen'), await seen() !== first];
  found.unnamed = await learned(page, () => page.click('#teach'));
  await page.fill('#label', label);
  found.steps = [];
  for (let i = 0; i < 3; i++) {
    if (i) {
      await draw(page, HEART);
    }
    found.taught = await learned(page, () => page.click('#teach'));
    found.steps.push([found.taught, await page.innerText('#answers'), await ink()]);
  }
  found.table = await page.evaluate(() => [...document.querySelectorAll('#confusion tr')].map(
    ({ cells }) => [...cells].map((cell) => cell.textContent)));
  await draw(page, HEART);
  await answered();
  found.after = await page.innerText('#answers');
  found.moved = [...place, await top()].some((at) => at !== place[0]);
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

// From now on the microphone hears these takes, int8 at 8 kHz as base64, one after the other with pauses, for ever.
function spoken(page, takes) {
  return page.evaluate((takes) => {
    navigator.mediaDevices.getUserMedia = async () => {
      const context = new AudioContext();
      const parts = takes.map((take) => Uint8Array.from(atob(take), (letter) => letter.charCodeAt(0)));
      const each = parts[0].length + 4000; // a pause of half a second
      const buffer = context.createBuffer(1, parts.length * each, 8000);
      const samples = buffer.getChannelData(0);
      parts.forEach((part, turn) => part.forEach((byte, i) => {
        samples[turn * each + 2400 + i] = (byte > 127 ? byte - 256 : byte) / 160;
      }));
      samples.forEach((value, i) => { samples[i] = value + 0.0005 * Math.sin(i * i); });
      const source = new AudioBufferSourceNode(context, { buffer, loop: true });
      const heard = context.createMediaStreamDestination();
      source.connect(heard);
      await context.resume();
      source.start();
      return heard.stream;
    };
  }, takes);
}

// Records both words, trains, and says what is recognised of a take that did not train. Sound is played in real time:
// a busy machine drops parts of it, so a recording of few words is made again, as a person would.
async function speech(page, words, record) {
  const found = { recorded: [], heard: [] };
  for (const [name, takes] of words) {
    await spoken(page, takes.slice(0, -1));
    let said;
    for (let tries = 0; tries < 4 && !/^([4-9]|\d\d) words/.test(said); tries++) {
      said = await record(name, async () => {
        await page.waitForFunction(() => document.getElementById('progress').value > 0.65);
        await page.click('#record');
      });
    }
    found.recorded.push(said);
  }
  found.trained = await train(page);
  if (await page.isDisabled('#recognise')) {
    throw new Error(`recorded: ${found.recorded.join(' ')} trained: ${found.trained}`);
  }
  for (const [, takes] of words) {
    await spoken(page, takes.slice(-1));
    await page.evaluate(() => document.getElementById('heard').replaceChildren());
    await page.click('#recognise');
    await page.waitForFunction(() => / %/.test(document.getElementById('heard').textContent));
    found.heard.push(await page.innerText('#heard'));
    await learned(page, () => page.click('#recognise'));
  }
  return found;
}

export async function sensors(page, { classes, words }) {
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
  await page.click('#classes button');
  await page.waitForFunction(() => !document.querySelector('#classes li'));
  found.speech = await speech(page, words, record);
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
