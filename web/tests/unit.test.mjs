// The parts without a page: text, numbers, heights, strips, events.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

let vite, load;
let skip = false;
try {
  vite = await import('vite');
} catch {
  skip = 'SKIPPED: vite is not installed (npm ci)';
}
let server;
before(async () => {
  if (skip) return;
  server = await vite.createServer({
    root: new URL('..', import.meta.url).pathname,
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    appType: 'custom',
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
  });
  load = (path) => server.ssrLoadModule(`/src/lib/${path}`);
});
after(() => server?.close());

test('control and bidirectional characters become visible', { skip }, async () => {
  const { visible, oneLine, stripAnsi } = await load('text/visible.ts');
  assert.equal(visible('a\u202eb\u200bc\u0007'), 'a⟨U+202E⟩b⟨U+200B⟩c␇');
  assert.equal(visible('tab\tand\nline'), 'tab\tand\nline');
  assert.equal(oneLine('  a \n b\u001b[31mc '), 'a bc');
  assert.equal(oneLine('x'.repeat(900), 10), `${'x'.repeat(10)}…`);
  assert.equal(oneLine(null), '');
  assert.equal(stripAnsi('\u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u001b[1mbold'), 'link bold');
});

test('terminal colours become classes, other escapes disappear', { skip }, async () => {
  const { runs } = await load('text/ansi.ts');
  assert.deepEqual(runs('a\u001b[31mb\u001b[0mc'), [
    { text: 'a', look: '' },
    { text: 'b', look: 'ansi-red' },
    { text: 'c', look: '' },
  ]);
  assert.deepEqual(runs('\u001b[38;5;31mx\u001b[1;92my\u001b[2J'), [
    { text: 'x', look: '' },
    { text: 'y', look: 'ansi-green ansi-bold' },
  ]);
  assert.deepEqual(runs('<img>\u001b'), [{ text: '<img>␛', look: '' }]);
});

test('unified diffs get line numbers', { skip }, async () => {
  const { parseDiff, counts } = await load('text/diff.ts');
  const lines = parseDiff('--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@\n same\n--- old\n+new\n\\ No newline at end of file\n');
  assert.deepEqual(
    lines.map(({ kind, before, after }) => [kind, before, after]),
    [
      ['hunk', null, null],
      ['same', 3, 3],
      ['remove', 4, null],
      ['add', null, 4],
      ['hunk', null, null],
    ],
  );
  assert.equal(lines[2].text, '-- old');
  assert.deepEqual(counts(lines), { added: 1, removed: 1 });
});

test('heights agree with plain sums', { skip }, async () => {
  const { Heights } = await load('heights.ts');
  const sizes = Array.from({ length: 1_237 }, (_, i) => 10 + ((i * 31) % 50));
  const heights = new Heights(sizes.length, (i) => sizes[i]);
  for (const i of [0, 5, 700, 1_236]) {
    sizes[i] += 13;
    assert.equal(heights.set(i, sizes[i]), 13);
  }
  let sum = 0;
  for (let i = 0; i < sizes.length; i += 1) {
    assert.equal(heights.offset(i), sum);
    assert.equal(heights.indexAt(sum), i);
    assert.equal(heights.indexAt(sum + sizes[i] - 1), i);
    sum += sizes[i];
  }
  assert.equal(heights.total, sum);
  assert.equal(heights.indexAt(sum + 99), sizes.length - 1);
  assert.equal(new Heights(0, () => 1).indexAt(5), 0);
});

test('numbers carry what they are', { skip }, async () => {
  const f = await load('format.ts');
  const cases = [
    [f.percent(0.004), '< 1 %'],
    [f.percent(0.9961), '> 99 %'],
    [f.percent(0), '0 %'],
    [f.percent(1), '100 %'],
    [f.percent(null), '–'],
    [f.duration(999), '999 ms'],
    [f.duration(6_400), '6.4 s'],
    [f.duration(251_000), '4m 11s'],
    [f.duration(7_260_000), '2h 01m'],
    [f.duration(null), '–'],
    [f.compact(740_000), '740k'],
    [f.compact(1_250), '1.3k'],
    [f.compact(0), '0'],
    [f.dollars(0.0051), '$0.0051'],
    [f.dollars(0), '$0'],
    [f.dollars(null), '–'],
    [f.plural(1, 'call'), '1 call'],
    [f.plural(2_000, 'call'), '2,000 calls'],
    [f.signed(-3, String), '−3'],
    [f.signed(0, String), '±0'],
    [f.ago('2026-01-01T00:00:00Z', Date.parse('2026-01-01T03:00:00Z')), '3 h ago'],
    [f.since('2026-01-01T01:02:03Z', '2026-01-01T00:00:00Z'), '1:02:03'],
    [f.shortPath('/a/b/c.jsonl:3'), '…/b/c.jsonl:3'],
  ];
  for (const [got, want] of cases) assert.equal(got, want);
});

test('intervals and weeks', { skip }, async () => {
  const { wilson, weekRange } = await load('stats.ts');
  const [low, high] = wilson(8, 10);
  assert.ok(Math.abs(low - 0.4902) < 1e-3 && Math.abs(high - 0.9433) < 1e-3);
  assert.equal(wilson(0, 0), null);
  assert.deepEqual([wilson(10, 10)[1], wilson(0, 10)[0]], [1, 0]);
  assert.deepEqual(weekRange(['2026-W52', '2027-W02']), ['2026-W52', '2026-W53', '2027-W01', '2027-W02']);
  assert.deepEqual(weekRange(['nonsense']), []);
});

test('strip: every failure shows, and next and previous find it', { skip }, async () => {
  const { stripShape, nextCall } = await load('strip.ts');
  const calls = Array.from({ length: 10_000 }, (_, i) => ({
    n: i + 1,
    status: i === 7_777 ? 'failed' : 'succeeded',
    finding: i === 3,
    agent: null,
    step: i,
    ms: null,
  }));
  const shape = stripShape(calls, 1_000);
  assert.equal(shape.columns, 500);
  assert.equal(shape.ticks.fail.split('M').length - 1, 1);
  assert.equal(shape.findings.split('M').length - 1, 1);
  const failed = ({ status }) => status === 'failed';
  assert.equal(nextCall(calls, null, 1, failed), 7_778);
  assert.equal(nextCall(calls, 7_778, 1, failed), null);
  assert.equal(nextCall(calls, 9_000, -1, failed), 7_778);
  assert.deepEqual(stripShape([], 100).ticks, { fail: '', warn: '', pass: '', faint: '' });
});

test('events survive being cut anywhere', { skip }, async () => {
  const { parseEvents } = await load('api/events.ts');
  const text =
    'event: ping\ndata: {}\n\nevent: change\r\ndata: {"issues":1}\r\n\r\n: comment\n\nevent: change\ndata: {"issues":2}\n\n';
  for (let cut = 0; cut <= text.length; cut += 1) {
    const found = [];
    const rest = parseEvents(text.slice(0, cut), (event) => found.push(event));
    parseEvents(rest + text.slice(cut), (event) => found.push(event));
    assert.deepEqual(
      found.map(({ event, data }) => [event, data]),
      [
        ['ping', '{}'],
        ['change', '{"issues":1}'],
        ['change', '{"issues":2}'],
      ],
      `cut at ${cut}`,
    );
  }
});

/** What a browser shares between its tabs, and a server that counts its open streams. */
function fakeBrowser() {
  const queue = [];
  let held = false;
  const grant = () => {
    const next = !held && queue.shift();
    if (!next) return;
    held = true;
    void next().finally(() => {
      held = false;
      grant();
    });
  };
  const locks = {
    request: (_name, { signal }, work) =>
      new Promise((done, fail) => {
        const run = () => Promise.resolve(work()).then(done, fail);
        queue.push(run);
        signal.addEventListener('abort', () => {
          const at = queue.indexOf(run);
          if (at >= 0) queue.splice(at, 1);
          if (at >= 0) fail(new DOMException('aborted', 'AbortError'));
        });
        grant();
      }),
  };
  const open = new Set();
  const fetch = async (_path, { signal }) => {
    let stream;
    const body = new ReadableStream({ start: (controller) => void (stream = controller) });
    open.add(stream);
    signal.addEventListener('abort', () => {
      open.delete(stream);
      stream.error(signal.reason);
    });
    return { ok: true, body };
  };
  const send = (text) => open.forEach((stream) => stream.enqueue(new TextEncoder().encode(text)));
  return { locks, fetch, open, send };
}

const soon = async (what, isSo) => {
  for (let n = 0; n < 200; n += 1) {
    if (isSo()) return;
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.fail(what);
};

test('all tabs share one event stream, and go on when the tab that reads it is closed', { skip }, async () => {
  const { listenShared } = await load('api/shared.ts');
  const browser = fakeBrowser();
  const before = { fetch: globalThis.fetch, navigator: Object.getOwnPropertyDescriptor(globalThis, 'navigator') };
  globalThis.fetch = browser.fetch;
  Object.defineProperty(globalThis, 'navigator', { value: { locks: browser.locks }, configurable: true });
  const tabs = [];
  try {
    for (let n = 0; n < 8; n += 1) {
      const tab = { abort: new AbortController(), heard: [], connected: null };
      tab.done = listenShared(
        '/events',
        tab.abort.signal,
        ({ data }) => tab.heard.push(data),
        (connected) => (tab.connected = connected),
      );
      tabs.push(tab);
    }
    await soon('every tab is connected', () => tabs.every((tab) => tab.connected));
    assert.equal(browser.open.size, 1);
    browser.send('event: change\ndata: {"issues":1}\n\n');
    await soon('every tab hears of it', () => tabs.every((tab) => tab.heard.length === 1));
    tabs[0].abort.abort();
    await tabs[0].done;
    await soon('another tab reads', () => browser.open.size === 1);
    browser.send('event: change\ndata: {"issues":2}\n\n');
    await soon('the others hear of it', () => tabs.slice(1).every((tab) => tab.heard.length === 2));
    assert.deepEqual(tabs[0].heard, ['{"issues":1}']);
  } finally {
    tabs.forEach((tab) => tab.abort.abort());
    await Promise.all(tabs.map((tab) => tab.done));
    globalThis.fetch = before.fetch;
    if (before.navigator) Object.defineProperty(globalThis, 'navigator', before.navigator);
    else delete globalThis.navigator;
  }
  assert.equal(browser.open.size, 0);
});

test('without locks a tab reads a stream of its own, but not while it is hidden', { skip }, async () => {
  const { listenShared } = await load('api/shared.ts');
  const browser = fakeBrowser();
  const before = { fetch: globalThis.fetch, navigator: Object.getOwnPropertyDescriptor(globalThis, 'navigator') };
  globalThis.fetch = browser.fetch;
  Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  const hide = (hidden) => {
    globalThis.document.hidden = hidden;
    globalThis.document.dispatchEvent(new Event('visibilitychange'));
  };
  const abort = new AbortController();
  const heard = [];
  const done = listenShared(
    '/events',
    abort.signal,
    ({ data }) => heard.push(data),
    () => {},
  );
  try {
    await soon('it reads', () => browser.open.size === 1);
    hide(true);
    await soon('it does not read', () => browser.open.size === 0);
    assert.deepEqual(heard, []);
    hide(false);
    await soon('it reads again, and pages look again', () => browser.open.size === 1 && heard.length === 1);
  } finally {
    abort.abort();
    await done;
    delete globalThis.document;
    globalThis.fetch = before.fetch;
    if (before.navigator) Object.defineProperty(globalThis, 'navigator', before.navigator);
    else delete globalThis.navigator;
  }
  assert.equal(browser.open.size, 0);
});

test('addresses', { skip }, async () => {
  const { parsePath } = await load('router.svelte.ts');
  assert.deepEqual(parsePath('/'), { page: 'feed', id: '' });
  assert.deepEqual(parsePath('/session/a%2Fb%20c'), { page: 'session', id: 'a/b c' });
  assert.deepEqual(parsePath('/session/%E0%A4%A'), { page: 'session', id: '%E0%A4%A' });
  assert.deepEqual(parsePath('/session'), { page: 'missing', id: '' });
  assert.deepEqual(parsePath('/feed/x'), { page: 'missing', id: '' });
});
