// A stand-in for toolmark serve: the built page and /api/v1 with generated data. No dependencies.
//   node dev/mock.mjs [--port 4319] [--empty]
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import * as data from './data.mjs';

const DIST = new URL('../dist/', import.meta.url);
const SESSIONS = 2_000;
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const FILES = { '/app.js': 'text/javascript; charset=utf-8', '/app.css': 'text/css; charset=utf-8' };

class NotFound extends Error {}

function store({ empty }) {
  const issues = empty ? [] : data.issues(300, 100_000);
  const rows = empty ? [] : Array.from({ length: SESSIONS }, (_, i) => data.sessionRow(i));
  const big = { ...data.sessionRow(0), id: 's-big', calls: 10_000, request: rows[0]?.request ?? null };
  if (!empty) rows.unshift(big);
  const sessions = new Map();
  const session = (id) => {
    const row = rows.find((one) => one.id === id);
    if (!row) throw new NotFound(`no session ${id}`);
    if (!sessions.has(id)) sessions.set(id, data.session(row, id === 's-big' ? 10_000 : (row.calls ?? 5)));
    return sessions.get(id);
  };
  return {
    issues,
    rows,
    session,
    runs: empty ? [] : data.runs(),
    decisions: empty ? [] : Array.from({ length: 3_000 }, (_, i) => data.decision(i)),
  };
}

function page(items, query, extra = {}) {
  const start = Number(query.get('cursor') ?? 0);
  const end = start + Math.min(500, Number(query.get('limit') ?? 200));
  return {
    items: items.slice(start, end),
    next: end < items.length ? String(end) : null,
    total: items.length,
    ...extra,
  };
}

const SPAN = { h: 3_600_000, d: 86_400_000 };
function sinceTest(query, time) {
  const match = /^(\d+)([hd])$/.exec(query.get('since') ?? '');
  if (!match) return () => true;
  const from = Date.now() - Number(match[1]) * SPAN[match[2]];
  return (row) => Date.parse(time(row)) >= from;
}

function listIssues(db, query) {
  const [state, kind, project, agent, q] = ['state', 'kind', 'project', 'agent', 'q'].map((name) => query.get(name));
  const open = (issue) => issue.state !== 'resolved' && issue.state !== 'ignored';
  const found = db.issues
    .filter((issue) => !state || (state === 'open' ? open(issue) : issue.state === state))
    .filter((issue) => !kind || issue.kind === kind)
    .filter((issue) => !project || issue.projects.some(({ name }) => name === project))
    .filter((issue) => !agent || issue.agents.some(({ name }) => name.startsWith(agent)))
    .filter((issue) => !q || issue.title.toLowerCase().includes(q.toLowerCase()))
    .filter(sinceTest(query, (issue) => issue.last_seen));
  const sort = query.get('sort') ?? 'count';
  found.sort((a, b) => (a[sort] < b[sort] ? 1 : a[sort] > b[sort] ? -1 : 0));
  return page(found, query, { of_sessions: SESSIONS });
}

function listSessions(db, query) {
  const verdict = (row) =>
    row.calls === null ? 'unknown' : row.findings.error ? 'fail' : row.findings.warning ? 'warn' : 'ok';
  let found = db.rows.filter(sinceTest(query, (row) => row.started));
  for (const name of ['project', 'agent', 'model', 'version']) {
    const value = query.get(name);
    if (value) found = found.filter((row) => row[name] === value);
  }
  if (query.get('verdict')) found = found.filter((row) => verdict(row) === query.get('verdict'));
  if (query.get('live')) found = found.filter((row) => row.live);
  if (query.get('tool')) found = found.filter((_, i) => i % 3 === 0);
  const q = query.get('q')?.toLowerCase();
  if (q) found = found.filter((row) => `${row.id} ${row.request} ${row.project}`.toLowerCase().includes(q));
  if (query.get('sort') === 'failed') found = [...found].sort((a, b) => (b.failed ?? -1) - (a.failed ?? -1));
  return page(found, query);
}

function timeline(db, id, query) {
  const session = db.session(id);
  let agent = query.get('agent') || null;
  const around = query.get('around');
  if (around) agent = session.detail.strip.find((tick) => tick.n === Number(around))?.agent ?? null;
  const list = agent === null ? session.main : session.agents.get(agent)?.list;
  if (!list) throw new NotFound(`no sub-agent ${agent}`);
  const limit = Number(query.get('limit') ?? 200);
  let from = Number(query.get('from') ?? 1);
  if (around) from = Math.max(1, list.findIndex((entry) => entry.call === Number(around)) + 1 - Math.floor(limit / 2));
  const items = list.slice(from - 1, from - 1 + limit);
  return { items, total: list.length, next: from + limit <= list.length ? from + limit : null, agent };
}

function search(db, id, query) {
  const q = (query.get('q') ?? '').toLowerCase();
  const hits = db
    .session(id)
    .main.filter((entry) => `${entry.tool ?? ''} ${entry.title ?? entry.text}`.toLowerCase().includes(q));
  return {
    items: hits
      .slice(0, 100)
      .map((entry) => ({ call: entry.call ?? null, n: entry.n, excerpt: entry.title ?? entry.text })),
  };
}

function diff(db, a, b) {
  const ref = (entry) => entry && { call: entry.call, tool: entry.tool, title: entry.title, status: entry.status };
  const [left, right] = [a, b].map((id) =>
    db
      .session(id)
      .main.filter((entry) => entry.type === 'call')
      .slice(0, 400),
  );
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, i) => {
    const [l, r] = [ref(left[i]) ?? null, ref(right[i]) ?? null];
    return { left: l, right: r, same: !l ? 'added' : !r ? 'removed' : l.title === r.title ? 'equal' : 'changed' };
  });
  return { rows };
}

function read(db, path, query) {
  const parts = path.split('/').map(decodeURIComponent);
  const [what, id, sub, extra] = parts;
  const issue = () => db.issues.find((one) => one.id === id) ?? fail(`no issue ${id}`);
  const fail = (text) => {
    throw new NotFound(text);
  };
  if (what === 'info') return data.info();
  if (what === 'projects') return { items: data.projects() };
  if (what === 'agents') return { items: data.agents() };
  if (what === 'issues' && !id) return listIssues(db, query);
  if (what === 'issues' && sub === 'occurrences')
    return page(
      Array.from({ length: issue().count }, (_, i) => data.occurrence({ id }, i)),
      query,
    );
  if (what === 'issues' && sub === 'fix')
    return (
      issue().fix && {
        ...issue().fix,
        diff: `--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -1,3 +1,4 @@\n # Notes\n \n - Run the tests before you finish.\n+${issue().fix.text}\n`,
      }
    );
  if (what === 'issues') return data.issueDetail(issue(), db.issues);
  if (what === 'sessions' && !id) return listSessions(db, query);
  if (what === 'sessions' && !sub) return db.session(id).detail;
  if (what === 'sessions' && sub === 'timeline') return timeline(db, id, query);
  if (what === 'sessions' && sub === 'calls')
    return data.callDetail(db.session(id).info[Number(extra) - 1] ?? fail(`no call ${extra}`));
  if (what === 'sessions' && sub === 'search') return search(db, id, query);
  if (what === 'sessions' && sub === 'diff') return diff(db, id, extra);
  if (what === 'tools') return { items: db.rows.length === 0 ? [] : data.tools() };
  if (what === 'runs' && !id) return { items: db.runs };
  if (what === 'runs') return data.runDetail(db.runs.find((run) => run.id === id) ?? fail(`no run ${id}`));
  if (what === 'compare') return data.comparison(query.get('a'), query.get('b'));
  if (what === 'guard' && id === 'status') return data.guardStatus();
  if (what === 'guard') {
    const [host, decision] = [query.get('host'), query.get('decision')];
    return page(
      db.decisions.filter((one) => (!host || one.host === host) && (!decision || one.decision === decision)),
      query,
    );
  }
  return fail(`no ${path}`);
}

const NEXT_STATE = { resolve: 'resolved', ignore: 'ignored', reopen: 'ongoing' };
function write(db, path, body) {
  const [what, id, sub] = path.split('/').map(decodeURIComponent);
  if (what === 'guard' && id === 'replay') {
    if (!body.policy.includes('guard:'))
      return [
        400,
        { error: { code: 'bad_policy', message: 'The policy has no key "guard".', hint: 'See docs/guard-policy.md.' } },
      ];
    const rows = Array.from({ length: 240 }, (_, i) => ({
      session: 's-big',
      call: i + 1,
      tool: 'Bash',
      title: i % 9 === 0 ? data.HOSTILE : 'rm -rf target/debug',
      decision: i % 4 === 0 ? 'ask' : 'deny',
      rule: 'no-rm',
      reason: 'rm -rf',
    }));
    return [200, { calls: 214_000, stopped: 180, asked: 60, rows }];
  }
  const issue = db.issues.find((one) => one.id === id);
  if (what !== 'issues' || !issue) throw new NotFound(path);
  if (sub === 'promote')
    return [
      200,
      {
        files: [`.toolmark/cases/${id}.yaml`, `.toolmark/cases/${id}.jsonl`],
        case: `id: ${id}\ngraders:\n  - tool-call-count: { tool: Edit, status: failed, max: 0 }\n`,
      },
    ];
  if (body.action === 'merge') db.issues.splice(db.issues.indexOf(issue), 1);
  if (body.action === 'note') issue.notes.push(body.text);
  issue.state = NEXT_STATE[body.action] ?? issue.state;
  return [200, issue];
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}');
}

/** Starts the server; `change` sends an event to every open page. */
export async function start({ port = 0, empty = false } = {}) {
  const db = store({ empty });
  const listeners = new Set();
  const json = (response, status, value) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

  async function api(request, response, url) {
    const path = url.pathname.slice('/api/v1/'.length);
    if (path === 'events') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write('event: ping\ndata: {}\n\n');
      listeners.add(response);
      return response.on('close', () => listeners.delete(response));
    }
    if (request.method === 'GET') return json(response, 200, read(db, path, url.searchParams));
    if (request.headers['x-toolmark'] !== '1')
      return json(response, 403, { error: { code: 'csrf', message: 'the header X-Toolmark is missing', hint: null } });
    return json(response, ...write(db, path, await bodyOf(request)));
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    response.setHeader('content-security-policy', CSP);
    response.setHeader('x-content-type-options', 'nosniff');
    try {
      if (url.pathname.startsWith('/api/v1/')) return await api(request, response, url);
      const type = FILES[url.pathname];
      const file = type ? url.pathname.slice(1) : 'index.html';
      return response
        .writeHead(200, { 'content-type': type ?? 'text/html; charset=utf-8' })
        .end(await readFile(new URL(file, DIST)));
    } catch (problem) {
      const missing = problem instanceof NotFound;
      return json(response, missing ? 404 : 500, {
        error: { code: missing ? 'not_found' : 'internal', message: problem.message, hint: null },
      });
    }
  });
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  const change = (counts) => {
    for (const response of listeners)
      response.write(
        `event: change\ndata: ${JSON.stringify({ sessions: 0, issues: 0, runs: 0, guard: 0, ...counts })}\n\n`,
      );
  };
  const close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return { url: `http://127.0.0.1:${server.address().port}`, change, close, db };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--port');
  const port = at > 0 ? Number(process.argv[at + 1]) : 4319;
  const { url, change } = await start({ port, empty: process.argv.includes('--empty') });
  console.log(`${url}/feed`);
  if (process.argv.includes('--live')) setInterval(() => change({ sessions: 1, issues: 2, guard: 1 }), 5_000);
}
