// Lists of thousands of rows, and answers of judges: generated data, for what small session files do not have.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launch, open, settled, skip } from './browser.mjs';
import { start } from '../dev/mock.mjs';

let server, browser;
before(async () => {
  if (!skip) [server, browser] = [await start(), await launch()];
});
after(async () => {
  await browser?.close();
  await server?.close();
});

async function visit(path, run) {
  const { page, problems, close } = await open(browser, server.url);
  await page.goto(server.url + path);
  await settled(page);
  await run(page);
  assert.deepEqual(problems, []);
  await close();
}

describe('long lists', { skip }, () => {
  test('live data waits behind a pill and keeps the scroll position', () =>
    visit('/feed', async (page) => {
      await page.getByText('live', { exact: true }).waitFor();
      const list = page.locator('.viewport');
      await list.evaluate((element) => element.scrollTo(0, 3000));
      await page.waitForTimeout(100);
      server.change({ issues: 12 });
      await page.getByRole('button', { name: '12 new' }).waitFor();
      assert.equal(await list.evaluate((element) => element.scrollTop), 3000);
      await page.getByRole('button', { name: '12 new' }).click();
      await page.waitForFunction(() => !document.querySelector('.pill'));
      assert.equal(await list.evaluate((element) => element.scrollTop), 3000);
    }));

  test('going back shows the list where it was left', () =>
    visit('/sessions?verdict=fail', async (page) => {
      await page.locator('.viewport').evaluate((element) => element.scrollTo(0, 2000));
      await page.waitForTimeout(100);
      const link = page.getByRole('row').nth(22).getByRole('link');
      const [href, top] = await link.evaluate((element) => [
        element.getAttribute('href'),
        Math.round(element.getBoundingClientRect().top),
      ]);
      // A click of playwright may scroll the row elsewhere first.
      await link.dispatchEvent('click');
      await page.waitForURL(/\/session\//);
      await page.goBack();
      // Rows are measured as they appear; then the one that was opened is where it was.
      await page.waitForFunction(
        ([address, y]) =>
          Math.round(document.querySelector(`a[href="${address}"]`)?.getBoundingClientRect().top ?? -1) === y,
        [href, top],
      );
    }));

  test('answers of judges, and the gap between telemetry and file, are shown', () =>
    visit('/session/s-9?call=5&tab=judge', async (page) => {
      await page
        .getByRole('tabpanel')
        .getByText(/version/)
        .first()
        .waitFor();
      await page.getByText(/Telemetry and session file disagree/).waitFor();
      await page.getByText('judge:goal-reached').first().click();
      await page.getByText('The image is smaller and the tests pass.').waitFor();
    }));
});
