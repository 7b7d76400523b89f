// Every page shows its data, without console errors, foreign requests or hostile text coming alive.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addresses, launch, needsMock, open, serve, settled, skip } from './browser.mjs';

let server, browser, paths;
before(async () => {
  if (skip) return;
  [server, browser] = [await serve(), await launch()];
  paths = await addresses(server.url);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

describe('pages', { skip }, () => {
  test('each page loads cleanly, in both themes and all widths', async () => {
    for (const [width, scheme] of [[390, 'dark'], [1280, 'light'], [1920, 'dark']]) {
      const { page, problems, close } = await open(browser, server.url, { width, scheme });
      for (const [name, path] of Object.entries(paths)) {
        await page.goto(server.url + path);
        await settled(page);
        const seen = await page.evaluate(() => ({
          alert: document.querySelector('main [role=alert]')?.textContent ?? null,
          images: document.querySelectorAll('img, iframe, script:not([src])').length,
          pwned: window.pwned ?? null,
          sideways: document.documentElement.scrollWidth - innerWidth,
          heading: document.querySelector('main h1, main h2')?.textContent?.trim() ?? '',
        }));
        assert.equal(seen.alert, null, `${name} at ${width}: ${seen.alert}`);
        assert.deepEqual([seen.images, seen.pwned], [0, null], `${name}: hostile text came alive`);
        assert.ok(seen.sideways <= 0, `${name} at ${width} is ${seen.sideways}px too wide`);
        assert.notEqual(seen.heading, '', `${name} has no heading`);
      }
      assert.deepEqual(problems, []);
      await close();
    }
  });

  test('an unknown address and an unknown id say what to do', { skip: needsMock }, async () => {
    const { page, close } = await open(browser, server.url);
    await page.goto(`${server.url}/nowhere`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.goto(`${server.url}/session/none`);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.textContent(), /no session none.*retention/s);
    await close();
  });

  test('an unreachable server is named, and Retry loads the page', { skip: needsMock }, async () => {
    const { page, close } = await open(browser, server.url);
    await page.route('**/api/v1/tools*', (route) => route.abort());
    await page.goto(`${server.url}/tools`);
    await page.getByText('The server does not answer.').waitFor();
    await page.unroute('**/api/v1/tools*');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('button', { name: 'Bash' }).waitFor();
    await close();
  });

  test('empty pages teach', { skip: needsMock }, async () => {
    const empty = await serve({ empty: true });
    const { page, problems, close } = await open(browser, empty.url);
    for (const [path, text] of [['/feed', 'toolmark serve --demo'], ['/sessions', '/home/dev/.claude/projects'], ['/tools', 'No calls yet'], ['/runs', 'toolmark run'], ['/guard', 'toolmark guard install'], ['/compare', 'toolmark compare']]) {
      await page.goto(empty.url + path);
      await page.getByText(text).first().waitFor();
    }
    assert.deepEqual(problems, []);
    await close();
    await empty.close();
  });
});
