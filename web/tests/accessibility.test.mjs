// axe-core finds no serious or critical violation on any page, light and dark.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addresses, axe, launch, open, serve, settled, skip as noBrowser } from './browser.mjs';

const skip = noBrowser || (axe ? false : 'SKIPPED: axe-core is not installed (npm ci)');
let server, browser;
before(async () => {
  if (skip) return;
  [server, browser] = [await serve(), await launch()];
});
after(async () => {
  await browser?.close();
  await server?.close();
});

async function violations(page) {
  await page.evaluate(axe.default.source);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

test('no serious violation', { skip }, async () => {
  const pages = Object.entries(await addresses(server.url));
  const found = [];
  for (const [scheme, width] of [['light', 1280], ['dark', 1280], ['light', 390]]) {
    const { page, close } = await open(browser, server.url, { scheme, width });
    for (const [name, path] of pages) {
      await page.goto(server.url + path);
      await settled(page);
      for (const text of await violations(page)) found.push(`${name} ${scheme} ${width}: ${text}`);
    }
    await close();
  }
  assert.deepEqual(found, []);
});

test('no serious violation in dialogs and opened parts', { skip }, async () => {
  const { page, close } = await open(browser, server.url);
  const found = [];
  const look = async (name) => {
    for (const text of await violations(page)) found.push(`${name}: ${text}`);
  };
  await page.goto(`${server.url}/feed`);
  await settled(page);
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await look('help');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Command' }).waitFor();
  await look('commands');
  await page.keyboard.press('Escape');
  for (const key of ['i', 'm', 'p']) {
    await page.keyboard.press('j');
    await page.keyboard.press(key);
    await page.getByRole('dialog').waitFor();
    await look(`dialog ${key}`);
    await page.keyboard.press('Escape');
  }
  const { session } = await addresses(server.url);
  for (const tab of ['result', 'diff', 'findings', 'judge', 'raw']) {
    await page.goto(`${server.url}${session}&tab=${tab}`);
    await settled(page);
    await look(`tab ${tab}`);
  }
  await page.goto(`${server.url}/guard?view=replay`);
  await settled(page);
  await look('replay');
  await close();
  assert.deepEqual(found, []);
});
