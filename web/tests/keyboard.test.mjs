// The whole way from "something is wrong" to the call and its fix, without a mouse.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, needsMock, open, serve, settled, skip } from './browser.mjs';

let server, browser;
before(async () => {
  if (skip || needsMock) return;
  [server, browser] = [await serve(), await launch()];
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('keyboard only', { skip: skip || needsMock }, async (t) => {
  const { page, problems, close } = await open(browser, server.url);
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
  const call = () => Number(new URL(page.url()).searchParams.get('call'));
  await page.goto(`${server.url}/`);
  await settled(page);

  await t.test('feed: move, show and copy the fix, resolve', async () => {
    await press('j', 'j', 'k');
    assert.match(await focused(), /Edit: text to replace not found/);
    await press(']');
    await page.getByRole('button', { name: 'Copy fix' }).waitFor();
    await press('c');
    await page.getByText('Copied fix').waitFor();
    await press('[', 'r');
    await page.getByText(/Resolved: Edit/).waitFor();
    await press('r');
    await page.getByText(/Reopened: Edit/).waitFor();
    await press('i');
    await page.getByRole('dialog').waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.match(await focused(), /Edit: text to replace not found/, 'the dialog gives the focus back');
  });

  await t.test('search, leave the field, open the issue, go to its session', async () => {
    await press('/');
    await page.keyboard.type('replace');
    await page.waitForURL(/q=replace/);
    await press('Escape', 'j', 'Enter');
    await page.waitForURL(/\/issue\//);
    await page.getByRole('heading', { name: 'Representative' }).waitFor();
    await press('d');
    await page.getByText('Notes').first().waitFor();
    await press('o');
    await page.waitForURL(/\/session\/s-big\?call=42/);
    await settled(page);
  });

  await t.test('session: move, next and previous failure and finding, tabs', async () => {
    await page.locator('[aria-current=true]').waitFor();
    await press('j');
    await page.waitForFunction(() => !/call=42(&|$)/.test(location.search));
    await press('f');
    await page.waitForFunction(() => Number(new URLSearchParams(location.search).get('call')) > 42);
    const first = call();
    await press('f');
    await page.waitForFunction((n) => Number(new URLSearchParams(location.search).get('call')) > n, first);
    await press('F');
    await page.waitForFunction((n) => Number(new URLSearchParams(location.search).get('call')) === n, first);
    await press('n', '3');
    await page.getByRole('tabpanel').getByText('axis recovery').waitFor();
    await press('w');
    await page.getByRole('tabpanel').getByText(/tool_use/).waitFor();
    await press('d', 'y');
    await page.getByText('Copied link').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
    await press('End');
    await page.waitForFunction(() => Number(new URLSearchParams(location.search).get('call')) > 9_900);
    await press('Home', 'Escape', 'Escape');
    await page.waitForURL(/\/issue\//);
    await press('Escape');
    await page.waitForURL(/\/feed/);
  });

  await t.test('pages by chord, help, commands', async () => {
    for (const [key, name] of [['s', 'sessions'], ['t', 'tools'], ['r', 'runs'], ['u', 'guard'], ['f', 'feed']]) {
      await press('g', key);
      await page.waitForURL(new RegExp(`/${name}`));
    }
    await press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Resolve or reopen').waitFor();
    await press('Escape');
    await press('Control+k');
    await page.keyboard.type('go to tools');
    await press('Enter');
    await page.waitForURL(/\/tools/);
    await settled(page);
    await press('j', 'Enter');
    await page.getByText('p95 per week').waitFor();
    await press('g', 'r');
    await page.waitForURL(/\/runs/);
    await settled(page);
    await press('j', 'x', 'j', 'x', 'd');
    await page.waitForURL(/\/compare\?a=.+&b=.+/);
    await page.getByText('McNemar').waitFor();
  });

  await t.test('tab order reaches the content by the skip link', async () => {
    await page.goto(`${server.url}/feed`);
    await settled(page);
    await press('Tab');
    assert.equal(await focused(), 'Skip to content');
    await press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'main');
    assert.equal(new URL(page.url()).pathname, '/feed');
  });

  assert.deepEqual(problems, []);
  await close();
});
