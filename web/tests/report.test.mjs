// The single-file reports that the binary writes, opened from file://.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { axe, launch, open, settled, skip as noBrowser, violations } from './browser.mjs';
import { sessionFiles, writeFixture } from './fixture.mjs';
import { BINARY, noBinary } from './served.mjs';

const skip = noBrowser || noBinary;
const SAMPLES = new URL('../../samples/', import.meta.url).pathname;
const MAX_BYTES = 2_000_000;

let browser, folder, environment;
before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'toolmark-report-'));
  ({ environment } = await writeFixture(folder, BINARY));
  browser = await launch();
  const commands = {
    check: ['check', 'sessions', '--gate', 'recovery >= 0.8'],
    feed: ['feed', 'sessions', '--occurrences'],
    grade: ['grade', `${SAMPLES}toolmark.yaml`, SAMPLES],
    compare: ['compare', 'runs/2026-baseline', 'runs/2026-branch'],
    trend: ['trend', 'sessions'],
  };
  for (const [name, args] of Object.entries(commands)) await write(name, args);
});
after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Runs the binary; what it prints is the report. Exit code 1 says that something was found. */
async function write(name, args) {
  const { stdout } = await promisify(execFile)(BINARY, [...args, '--format', 'html'], {
    cwd: folder,
    env: environment,
    maxBuffer: 64 << 20,
    timeout: 120_000,
  }).catch((error) => {
    if (error.code !== 1) throw error;
    return error;
  });
  await writeFile(join(folder, `${name}.html`), stdout);
}

async function visit(name, run, options) {
  const { page, problems, close } = await open(browser, 'file:', options);
  await page.goto(`file://${folder}/${name}.html`);
  await settled(page);
  await run(page);
  assert.deepEqual(
    await page.evaluate(() => [document.querySelectorAll('img, iframe').length, window.pwned ?? null]),
    [0, null],
    `${name}: hostile text came alive`,
  );
  assert.deepEqual(problems, [], name);
  await close();
}
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const fragment = (page) => new URL(page.url()).hash;

describe('reports', { skip }, () => {
  test('every report: both themes, narrow and wide, no serious violation', async () => {
    const found = [];
    for (const name of ['check', 'feed', 'grade', 'compare']) {
      for (const [width, scheme] of [
        [390, 'dark'],
        [1280, 'light'],
      ]) {
        await visit(
          name,
          async (page) => {
            const where = `${name} at ${width}`;
            assert.ok(
              (await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0,
              `${where} is too wide`,
            );
            assert.equal(await page.locator('#static').isVisible(), false);
            if (axe) for (const text of await violations(page)) found.push(`${where}: ${text}`);
          },
          { width, scheme },
        );
      }
    }
    assert.deepEqual(found, []);
  });

  test('check: findings with their proof, filters, scorecard, overview, gates, sessions', () =>
    visit('check', async (page) => {
      assert.equal(fragment(page), '#/check');
      await page.getByLabel('Rule').selectOption('R401');
      await page.getByRole('status').getByText('17 findings').waitFor();
      await page.keyboard.press('j');
      await page.getByRole('heading', { name: /R401/ }).waitFor();
      await page.getByText('fix what the error names').first().waitFor();
      await page.keyboard.press('c');
      await page.getByText('Copied fix').waitFor();
      assert.match(await clipboard(page), /fix what the error names/);
      await page.getByRole('button', { name: 'Copy command' }).click();
      await page.getByText('Copied command').waitFor();
      assert.match(await clipboard(page), /^toolmark show '.*' --step \d+$/);
      await page.reload();
      await page.getByRole('heading', { name: /R401/ }).waitFor();
      await page.getByLabel('Rule').selectOption('');
      await page.getByLabel('Search findings').fill('shared-fixtures');
      await page.waitForFunction(() => location.hash.includes('q=shared'));
      await page.getByRole('list', { name: 'Findings' }).getByText('I301').first().waitFor();
      for (const [view, text] of [
        ['Scorecard', 'all tools'],
        ['Overview', 'per 100 calls'],
        ['Gates and more', 'recovery >= 0.8'],
      ]) {
        await page.getByRole('button', { name: view }).click();
        await page.getByText(text).first().waitFor();
        if (axe) assert.deepEqual(await violations(page), [], view);
      }
      await page.getByRole('link', { name: 'Sessions' }).click();
      await page.getByRole('table', { name: 'Sessions' }).getByRole('link').first().click();
      await page.waitForFunction(() => /#\/check\?session=/.test(location.hash));
    }));

  test('feed: filters, an issue, its occurrences; deciding says which command to run', () =>
    visit('feed', async (page) => {
      await page.getByLabel('Kind').selectOption('failure');
      await page.waitForFunction(() => location.hash.includes('kind=failure'));
      await page.getByLabel('Search issues').fill('not installed');
      await page.waitForFunction(() => document.querySelectorAll('[role=listitem]').length === 1);
      await page.keyboard.press('Escape');
      await page.keyboard.press('j');
      await page.keyboard.press('r');
      await page.getByText(/Run: toolmark feed resolve [0-9a-f]{16}/).waitFor();
      await page.getByRole('listitem').first().locator('[data-main]').click();
      await page.getByRole('heading', { name: 'Representative' }).waitFor();
      await page.getByText('command not found').first().waitFor();
      await page
        .getByRole('table', { name: /Occurrences/ })
        .getByRole('row')
        .nth(1)
        .waitFor();
      if (axe) assert.deepEqual(await violations(page), []);
      await page.goBack();
      await page.getByRole('list', { name: 'Issues' }).waitFor();
    }));

  test('grade: outcomes with what decided them, and graders', () =>
    visit('grade', async (page) => {
      await page.keyboard.press('f');
      await page.getByRole('heading', { name: /disk-full/ }).waitFor();
      await page.getByText('To pass').first().waitFor();
      await page.getByRole('region', { name: 'Expected and made calls' }).first().waitFor();
      if (axe) assert.deepEqual(await violations(page), []);
      await page.getByLabel('Verdict').selectOption('pass');
      await page.getByRole('status').getByText('2 outcomes').waitFor();
      await page.getByRole('button', { name: 'Matrix' }).click();
      await page.getByRole('link', { name: 'disk-full' }).click();
      await page.getByRole('heading', { name: /disk-full/ }).waitFor();
      await page.getByRole('button', { name: 'Graders' }).click();
      await page.getByRole('heading', { name: 'Scores' }).waitFor();
      await page
        .getByRole('link', { name: /expect/ })
        .first()
        .click();
      await page.getByRole('status').getByText('1 outcome').waitFor();
    }));

  test('compare: statistics and cases', () =>
    visit('compare', async (page) => {
      const main = page.locator('#main');
      await main.getByText('McNemar').waitFor();
      await main.getByText('3 worse').waitFor();
      await main.getByRole('row').filter({ hasText: 'flaky-checkout' }).first().getByText('worse').waitFor();
    }));

  test('without scripts and on paper there are tables', async () => {
    const words = {
      check: 'R401',
      feed: 'A program is not installed: rg',
      grade: 'disk-full',
      compare: 'flaky-checkout',
      trend: 'calls',
    };
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    for (const [name, text] of Object.entries(words)) {
      await page.goto(`file://${folder}/${name}.html`);
      assert.ok(await page.locator('#static').getByText(text).first().isVisible(), name);
    }
    await context.close();
    await visit('check', async (shown) => {
      await shown.emulateMedia({ media: 'print' });
      assert.ok(await shown.locator('#static').getByText('R401').first().isVisible());
      assert.equal(await shown.locator('.app').isVisible(), false);
    });
  });

  test('500 sessions: the check is at most 2 MB and opens', async (t) => {
    const many = join(folder, 'many');
    const now = Date.now();
    for (let i = 0; i < 17; i += 1) {
      const to = join(many, String(i));
      for (const [path, text] of sessionFiles(to, now - i * 1_000)) {
        await mkdir(join(path, '..'), { recursive: true });
        await writeFile(path, text.replaceAll('5e5510', `5e55${String(10 + i)}`));
      }
    }
    await write('many', ['check', 'many']);
    const { size } = await stat(join(folder, 'many.html'));
    t.diagnostic(`${size} bytes`);
    assert.ok(size <= MAX_BYTES, `${size} bytes`);
    assert.match(await readFile(join(folder, 'many.html'), 'utf8'), /data-encoding="gzip-base64"/);
    await visit('many', async (page) => {
      await page
        .getByText(/5\d\d sessions/)
        .first()
        .waitFor();
      await page.keyboard.press('j');
      await page.locator('.pick.cursor').waitFor();
    });
  });
});
