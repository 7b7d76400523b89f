// What a reader can do on each page, with mouse and address.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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

async function visit(path, run, options) {
  const { page, problems, close } = await open(browser, server.url, options);
  await page.goto(server.url + path);
  await settled(page);
  await run(page);
  assert.deepEqual(problems, []);
  await close();
}
const query = (page) => Object.fromEntries(new URL(page.url()).searchParams);
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

describe('actions', { skip: skip || needsMock }, () => {
  test('feed: filters are in the address', () =>
    visit('/feed', async (page) => {
      await page.getByLabel('Kind').selectOption('finding');
      await page.getByLabel('State').selectOption('all');
      await page.getByLabel('Search issues').fill('shell');
      await page.waitForURL(/q=shell/);
      assert.deepEqual(query(page), { kind: 'finding', state: 'all', q: 'shell' });
      await page.waitForFunction(() => [...document.querySelectorAll('[data-main]')].every((a) => /shell/.test(a.textContent)));
      await page.reload();
      assert.equal(await page.getByLabel('Search issues').inputValue(), 'shell');
    }));

  test('feed: resolve, ignore, merge, promote, fix', () =>
    visit('/feed', async (page) => {
      const row = page.getByRole('listitem').first();
      await row.hover();
      await row.getByRole('button', { name: 'Resolve' }).click();
      await row.getByText('resolved').waitFor();
      await row.hover();
      await row.getByRole('button', { name: 'Reopen' }).click();
      await row.getByText('ongoing').waitFor();

      await row.getByRole('button', { name: /^fix/ }).click();
      await row.getByRole('button', { name: 'Copy fix' }).click();
      assert.match(await clipboard(page), /^- Read the file again/);
      await row.getByRole('button', { name: 'Preview diff' }).click();
      await row.getByText('CLAUDE.md').nth(1).waitFor();

      const second = page.getByRole('listitem').nth(1);
      await second.hover();
      await second.getByRole('button', { name: 'Ignore' }).click();
      await page.getByLabel('until it escalates').check();
      await page.getByRole('dialog').getByRole('button', { name: 'Ignore' }).click();
      await second.getByText('ignored').waitFor();

      const third = page.getByRole('listitem').nth(2);
      const title = await third.locator('[data-main]').textContent();
      await third.hover();
      await third.getByRole('button', { name: 'Promote' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click();
      await page.getByText('tool-call-count').waitFor();
      await page.getByRole('button', { name: 'Done' }).click();

      await third.hover();
      await third.getByRole('button', { name: 'Merge' }).click();
      await page.getByRole('dialog').getByRole('button').nth(1).click();
      await page.waitForFunction((old) => ![...document.querySelectorAll('[data-main]')].some((a) => a.textContent === old), title);
    }));

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

  test('issue: trend by model, representative, occurrences, note', () =>
    visit('/feed', async (page) => {
      await page.getByRole('listitem').first().locator('[data-main]').click();
      await page.getByRole('heading', { name: 'Representative' }).waitFor();
      await page.getByRole('button', { name: 'by model' }).click();
      await page.getByText('gpt-6-codex').first().waitFor();
      assert.equal(query(page).by, 'model');
      await page.getByRole('button', { name: 'Note' }).click();
      await page.getByRole('textbox', { name: 'Note' }).fill('seen again');
      await page.getByRole('button', { name: 'Add note' }).click();
      await page.getByText('seen again').waitFor();
      const table = page.getByRole('table', { name: /Occurrences/ });
      await table.getByRole('link').first().click();
      await page.waitForURL(/\/session\/.*call=/);
      await page.goBack();
      await page.getByRole('link', { name: /Open session/ }).click();
      await page.waitForURL(/call=42/);
    }));

  test('sessions: filters, live, tool from the Tools page, back keeps the list', () =>
    visit('/tools', async (page) => {
      await page.getByRole('button', { name: 'Bash' }).click();
      assert.equal(query(page).tool, 'Bash');
      await page.getByRole('link', { name: 'Sessions that call Bash' }).click();
      await page.waitForURL(/\/sessions\?tool=Bash/);
      await page.getByRole('button', { name: /tool Bash/ }).click();
      await page.getByRole('checkbox', { name: 'live' }).check();
      await page.getByText('4 sessions').waitFor();
      await page.getByRole('checkbox', { name: 'live' }).uncheck();
      await page.getByLabel('Verdict').selectOption('fail');
      await page.waitForURL(/verdict=fail/);
      await settled(page);
      const list = page.locator('.viewport');
      await list.evaluate((element) => element.scrollTo(0, 2000));
      await page.waitForTimeout(100);
      const shown = await page.getByRole('row').nth(22).getByRole('link').evaluate((link) => [link.href, Math.round(link.getBoundingClientRect().top)]);
      // A click of playwright may scroll the row elsewhere first.
      await page.getByRole('row').nth(22).getByRole('link').dispatchEvent('click');
      await page.waitForURL(/\/session\//);
      await page.goBack();
      await page.waitForURL(/\/sessions/);
      const back = page.locator(`a[href="${new URL(shown[0]).pathname}"]`);
      await back.waitFor();
      assert.equal(Math.round((await back.boundingBox()).y), shown[1]);
    }));

  test('tools: sorting', () =>
    visit('/tools', async (page) => {
      await page.getByRole('button', { name: 'Failure rate' }).click();
      assert.equal(query(page).sort, 'rate');
      const rates = await page.locator('.share').allTextContents();
      const numbers = rates.map((text) => Number.parseInt(text.replace('<', ''), 10));
      assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
    }));

  test('session: every tab, deep link, next failure and finding, strip, search, raw, compare', () =>
    visit('/session/s-big?call=5000&tab=result', async (page) => {
      await page.getByRole('heading', { name: /#5000/ }).waitFor();
      await page.locator('[aria-current=true]').waitFor();
      assert.equal(await page.getByRole('tab', { name: 'Result' }).getAttribute('aria-selected'), 'true');
      for (const [tab, text] of [['Call', 'Arguments'], ['Diff', /diff|changes no file|\+\d/i], ['Findings', /No rule|axis/], ['Judge', /evaluated|version/], ['Raw', /tool_use/]]) {
        await page.getByRole('tab', { name: tab }).click();
        await page.getByRole('tabpanel').getByText(text).first().waitFor();
      }
      assert.equal(query(page).tab, 'raw');
      await page.getByRole('button', { name: /Next failure/ }).click();
      await page.waitForURL((url) => Number(url.searchParams.get('call')) > 5000);
      await page.getByText(/failed|denied|interrupted/).first().waitFor();
      await page.getByRole('button', { name: /Next finding/ }).click();
      await page.getByRole('tab', { name: 'Findings' }).click();
      await page.getByRole('tabpanel').getByText('axis recovery').waitFor();

      const strip = page.getByRole('slider');
      const box = await strip.boundingBox();
      await page.mouse.click(box.x + box.width * 0.9, box.y + 10);
      await page.waitForURL((url) => Math.abs(Number(url.searchParams.get('call')) - 9000) < 30);
      await strip.focus();
      await page.keyboard.press('Home');
      await page.waitForURL(/call=1(&|$)/);

      await page.getByLabel('Search in this session').fill('release.sh');
      await page.getByRole('button', { name: /release\.sh/ }).first().click();
      await page.getByRole('heading', { name: /Write/ }).waitFor();

      await page.getByRole('button', { name: /Compare with/ }).click();
      await page.getByRole('dialog').getByRole('listitem').nth(3).getByRole('button').click();
      await page.getByText(/Compared with/).waitFor();
      assert.ok(query(page).with);
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('slider').waitFor();
    }));

  test('session: sub-agents fold and unfold, a link into one unfolds it', async () => {
    const detail = await (await fetch(`${server.url}/api/v1/sessions/s-big`)).json();
    const inside = detail.strip.find((tick) => tick.agent !== null);
    const parent = detail.agents_list.find((agent) => agent.id === inside.agent).parent_call;
    await visit(`/session/s-big?call=${parent}`, async (page) => {
      const fold = page.locator('.cursor .sub');
      assert.equal(await fold.getAttribute('aria-expanded'), 'false');
      await fold.click();
      await page.locator('.cursor .sub[aria-expanded=true]').waitFor();
      await fold.click();
      await page.locator('.cursor .sub[aria-expanded=false]').waitFor();
    });
    await visit(`/session/s-big?call=${inside.n}`, async (page) => {
      await page.getByRole('heading', { name: `#${inside.n}` }).waitFor();
      await page.locator('.sub[aria-expanded=true]').waitFor();
    });
  });

  test('runs: mark two, compare, swap; run matrix', () =>
    visit('/runs', async (page) => {
      await page.getByRole('checkbox').nth(0).check();
      await page.getByRole('checkbox').nth(2).check();
      await page.getByRole('button', { name: /Compare marked/ }).click();
      await page.waitForURL(/\/compare\?a=.*c2f3&b=.*a0f3/);
      await page.getByText('McNemar').waitFor();
      await page.getByRole('button', { name: 'Swap the two runs' }).click();
      await page.waitForURL(/\/compare\?a=.*a0f3&b=.*c2f3/);
      await page.goto(`${server.url}/runs`);
      await page.getByRole('link', { name: /a0f3/ }).click();
      await page.getByRole('button', { name: /: fail$/ }).first().click();
      await page.getByText(/at most 4 allowed/).waitFor();
      assert.ok(query(page).trial);
    }));

  test('guard: filters and replay', () =>
    visit('/guard', async (page) => {
      await page.getByLabel('Decision', { exact: true }).selectOption('deny');
      await page.waitForURL(/decision=deny/);
      await page.getByRole('button', { name: 'Replay a policy' }).click();
      await page.getByRole('button', { name: 'Replay', exact: true }).click();
      await page.getByText('180 calls stopped').waitFor();
    }));

  test('theme: switched and kept', () =>
    visit('/feed', async (page) => {
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = await background();
      await page.getByRole('button', { name: /Theme/ }).click();
      await page.getByRole('button', { name: /Theme: light/ }).click();
      await page.getByRole('button', { name: /Theme: dark/ }).waitFor();
      assert.notEqual(await background(), light);
      await page.reload();
      await page.getByRole('button', { name: /Theme: dark/ }).waitFor();
    }));

  test('one pane at a time on a phone', () =>
    visit('/session/s-1', async (page) => {
      await page.getByRole('list', { name: 'Timeline' }).locator('.call').first().click();
      await page.getByRole('tab', { name: 'Result' }).waitFor();
      assert.equal(await page.getByRole('list', { name: 'Timeline' }).isVisible(), false);
      await page.getByRole('button', { name: 'Back to the timeline' }).click();
      await page.getByRole('list', { name: 'Timeline' }).waitFor();
    }, { width: 390, height: 844 }));
});
