// A single-file report: the same bundle with its data inlined, opened from file://.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import * as data from '../dev/data.mjs';
import { launch, open, settled, skip } from './browser.mjs';

const DIST = new URL('../dist/', import.meta.url);
const OUT = new URL('../out/reports/', import.meta.url);

/** What the command line does with the template. */
async function report(name, page, paths, { compressed = false } = {}) {
  const [template, css, js] = await Promise.all(['report.html', 'app.css', 'app.js'].map((file) => readFile(new URL(file, DIST), 'utf8')));
  const json = JSON.stringify({ page, data: paths }).replaceAll('<', '\\u003c');
  const text = compressed ? gzipSync(json).toString('base64') : json;
  const element = `<script type="application/json" id="toolmark-data"${compressed ? ' data-encoding="gzip-base64"' : ''}>${text}</script>`;
  const html = template
    .replace('/*toolmark:css*/', () => css)
    .replace('<!--toolmark:data-->', () => element)
    .replace('/*toolmark:js*/', () => js);
  await mkdir(OUT, { recursive: true });
  const file = new URL(`${name}.html`, OUT);
  await writeFile(file, html);
  return file.href;
}

const page = (items) => ({ items, next: null, total: items.length });

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

describe('reports', { skip }, () => {
  test('feed: filters, opens an issue, refuses to write and says how', async () => {
    const issues = data.issues(20, 2_000);
    const detail = data.issueDetail(issues[0], issues);
    const url = await report('feed', 'feed', {
      '/api/v1/issues': page(issues),
      [`/api/v1/issues/${issues[0].id}`]: { ...detail, representative: { ...detail.representative, number: null } },
      [`/api/v1/issues/${issues[0].id}/occurrences`]: page([data.occurrence(issues[0], 1)]),
    });
    const { page: tab, problems, close } = await open(browser, 'file:');
    await tab.goto(url);
    await settled(tab);
    await tab.getByText('report', { exact: true }).waitFor();
    assert.equal(await tab.getByRole('link', { name: 'Guard' }).count(), 0);
    await tab.getByLabel('Kind').selectOption('failure');
    await tab.waitForFunction(() => location.hash.includes('kind=failure'));
    await tab.keyboard.press('j');
    await tab.keyboard.press('r');
    await tab.getByText(`Run: toolmark feed resolve ${issues[0].id}`).waitFor();
    await tab.getByRole('listitem').first().locator('[data-main]').click();
    await tab.getByRole('heading', { name: 'Representative' }).waitFor();
    await tab.goBack();
    await tab.getByRole('list', { name: 'Issues' }).waitFor();
    assert.deepEqual(problems, []);
    await close();
  });

  test('session: compressed, timeline with sub-agents, inspector', async () => {
    const built = data.session(data.sessionRow(4), 400);
    const base = `/api/v1/sessions/${built.detail.id}`;
    const timeline = (items) => ({ items, total: items.length, next: null });
    const paths = { [base]: built.detail, [`${base}/timeline`]: timeline(built.main) };
    for (const { id, list } of built.agents.values()) paths[`${base}/timeline?agent=${id}`] = timeline(list);
    for (const one of built.info) paths[`${base}/calls/${one.entry.call}`] = data.callDetail(one);
    const url = await report('session', 'session', paths, { compressed: true });
    const { page: tab, problems, close } = await open(browser, 'file:');
    await tab.goto(url);
    await settled(tab);
    await tab.keyboard.press('f');
    await tab.getByRole('tab', { name: 'Result' }).click();
    await tab.getByRole('tabpanel').getByText(/error|tests passed|no result/).first().waitFor();
    const inside = built.detail.strip.find((tick) => tick.agent !== null);
    if (inside) {
      await tab.goto(`${url}#/session/${built.detail.id}?call=${inside.n}`);
      await tab.reload();
      await tab.locator('.sub[aria-expanded=true]').waitFor();
    }
    assert.deepEqual(problems, []);
    await close();
  });

  test('compare and grade', async () => {
    const [a, b] = data.runs();
    for (const [name, paths, text] of [
      ['compare', { '/api/v1/compare': data.comparison('main.json', 'branch.json') }, 'McNemar'],
      ['grade', { '/api/v1/runs': { items: [a, b] }, [`/api/v1/runs/${a.id}`]: data.runDetail(a) }, 'regression-12'],
      ['check', { '/api/v1/sessions': page([data.sessionRow(1), data.sessionRow(2)]) }, '2 sessions'],
    ]) {
      const url = await report(name, name, paths);
      const { page: tab, problems, close } = await open(browser, 'file:');
      await tab.goto(url);
      await tab.getByText(text).first().waitFor();
      assert.deepEqual(problems, [], name);
      await close();
    }
  });
});
