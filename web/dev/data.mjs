// Generated data in the shapes of /api/v1, the same on every start. Some of it is hostile on purpose.

export const HOSTILE = '<img src=x onerror=alert(1)><script>window.pwned=1</script>';
const ANSI =
  '\u001b[31merror\u001b[0m: \u001b[1mbuild\u001b[22m failed \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007';
const BIDI = 'safe\u202egnp.exe\u200b';

export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const NOW = Date.now();
const at = (ago) => new Date(NOW - ago).toISOString();
const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;

function isoWeek(time) {
  const day = new Date(time);
  const thursday = new Date(
    Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() + 4 - (day.getUTCDay() || 7)),
  );
  const number = Math.ceil(((thursday - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 86_400_000 + 1) / 7);
  return `${thursday.getUTCFullYear()}-W${String(number).padStart(2, '0')}`;
}
const WEEKS = Array.from({ length: 12 }, (_, i) => isoWeek(NOW - (11 - i) * WEEK));

const PROJECTS = ['shop-api', 'billing', 'docs-site', 'mobile-app', 'infra', HOSTILE];
const AGENTS = [
  { agent: 'claude-code', versions: ['2.1.190', '2.1.197'], models: ['claude-sonnet-5', 'claude-opus-5'] },
  { agent: 'codex', versions: ['0.165.0', '0.166.0'], models: ['gpt-6-codex'] },
  { agent: 'gemini-cli', versions: ['0.31.0'], models: ['gemini-4-pro'] },
];
const TOOLS = ['Bash', 'Read', 'Edit', 'Grep', 'Write', 'Glob', 'WebFetch', 'Task', 'apply_patch', 'mcp__db__query'];
const TITLES = {
  Bash: [
    'npm run build',
    'cargo test -p billing --lib',
    'git status --short',
    'rm -rf target/debug',
    'rg -n "panic!" src | head',
  ],
  Read: ['src/server/config.ts', 'crates/billing/src/invoice.rs', 'README.md'],
  Edit: ['src/server/config.ts', 'crates/billing/src/invoice.rs', 'docs/setup.md'],
  Grep: ['"fn parse_invoice" in crates', 'useEffect in src/**/*.tsx'],
  Write: ['src/server/cache.ts', 'scripts/release.sh'],
  Glob: ['**/*.test.ts', 'docs/**/*.md'],
  WebFetch: ['http://127.0.0.1:8080/health'],
  Task: ['find usages of parse_invoice', 'review the migration'],
  apply_patch: ['2 files changed'],
  mcp__db__query: ['select count(*) from invoices'],
};
const REQUESTS = [
  'CI ran out of disk space while building the image. Find out what fills it and make the build smaller.',
  'Add a rate limit to the login endpoint and a test for it.',
  'The invoice total is wrong when a discount and a tax apply. Fix it.',
  'Rename the setting `cache.ttl` to `cache.max_age` everywhere and keep the old name working.',
  'Write a migration that adds an index on (tool, duration).',
  `Explain ${HOSTILE} in the template`,
  'Flaky test: checkout_spec fails one time in ten. Make it deterministic.',
];
const FAILURES = [
  [
    'Edit: text to replace not found',
    'arguments',
    'edit-no-match',
    null,
    'Edit',
    '- Read the file again after a formatter ran, before editing it.',
  ],
  [
    'shell used instead of Grep',
    'selection',
    'shell-for-search',
    'R101',
    'Bash',
    '- Use Grep to search files, not `grep` or `rg` in the shell.',
  ],
  ['Bash: program not installed', 'environment', 'dependency', null, 'Bash', 'apt-get install -y ripgrep'],
  [
    'destructive command without a backup',
    'irreversibility',
    'destructive',
    'R301',
    'Bash',
    '- Never run `rm -rf` outside of target directories.',
  ],
  ['the same failing call repeated', 'recovery', 'blind-retry', 'R401', 'Bash', null],
  ['tests failed: Rust', 'environment', 'tests', null, 'Bash', null],
  [
    'Read: file does not exist',
    'arguments',
    'missing-path',
    null,
    'Read',
    '- Look for a file with Glob before reading it.',
  ],
  [
    'unknown flag',
    'arguments',
    'bad-arguments',
    null,
    'Bash',
    '- `cargo test` has no flag `--only`; use `cargo test NAME`.',
  ],
];
const STATES = ['regressed', 'escalating', 'new', 'ongoing', 'ongoing', 'ongoing', 'resolved', 'ignored'];

export function issues(count, occurrences) {
  const next = random(7);
  const weights = Array.from({ length: count }, (_, i) => 1 / (i + 1));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight, i) => {
    const [title, category, subtype, code, tool, text] = FAILURES[i % FAILURES.length];
    const total = Math.max(1, Math.round((occurrences * weight) / sum));
    const shape = WEEKS.map((_, w) => Math.max(0, next() * (1 + (i % 3 === 0 ? w : 6)) - (i % 5)));
    const scale = shape.reduce((a, b) => a + b, 0) || 1;
    const weeks = WEEKS.map((week, w) => ({ week, count: Math.round((shape[w] / scale) * total) }));
    const agent = AGENTS[i % 3];
    const recovered = Math.round(total * next() * 0.6);
    return {
      id: `i${(i * 2654435761 + 97).toString(16).slice(0, 10).padStart(10, '0')}`,
      kind: code ? 'finding' : 'failure',
      category,
      subtype,
      code,
      title:
        i === 11 ? `${title} ${HOSTILE}` : i < FAILURES.length ? title : `${title} (${PROJECTS[i % 5]}, case ${i})`,
      role: tool.toLowerCase(),
      template: `${title} <path>`,
      count: total,
      sessions: Math.min(1800, Math.max(1, Math.round(total / (1.5 + next() * 4)))),
      projects: PROJECTS.slice(0, 1 + (i % 4)).map((name, p) => ({
        name,
        count: Math.max(1, Math.round(total / (p + 2))),
      })),
      first_seen: at(WEEK * (2 + (i % 10))),
      last_seen: at(HOUR * (1 + ((i * 7) % 200))),
      weeks,
      tools: [{ name: tool, count: total }],
      models: [{ name: agent.models[0], count: total }],
      agents: [{ name: `${agent.agent} ${agent.versions.at(-1)}`, count: total }],
      subjects: [],
      recovery: code
        ? null
        : {
            recovered,
            partial: 3,
            failed: Math.round(total * 0.1),
            open: 4,
            rate: recovered / (recovered + 3 + Math.round(total * 0.1) || 1),
          },
      lost: {
        tokens: i % 4 === 3 ? null : total * 1250,
        output_tokens: null,
        duration_ms: i % 5 === 4 ? null : total * 2100,
        counted: total,
        timed: total,
      },
      similar: [],
      same_calls: null,
      state: STATES[(i * 5) % STATES.length],
      merged: [],
      notes: i === 0 ? ['waits for the new image'] : [],
      fix: text && {
        target: text.startsWith('-') ? 'instructions' : 'set-up',
        file: text.startsWith('-') ? 'CLAUDE.md' : null,
        key: null,
        project: 'shop-api',
        text,
        why: 'Most occurrences follow the same mistake; the line names it.',
      },
    };
  });
}

export function issueDetail(issue, all) {
  const agent = AGENTS[0];
  const split = (share) => issue.weeks.map(({ week, count }, i) => ({ week, count: Math.round(count * share(i)) }));
  return {
    ...issue,
    similar: all
      .filter((other) => other.subtype === issue.subtype && other.id !== issue.id)
      .slice(0, 3)
      .map((other, i) => ({ id: other.id, title: other.title, similarity: 0.93 - i * 0.08 })),
    representative: {
      session: 's-big',
      call_id: 'toolu_01',
      number: 42,
      place: { file: '/home/dev/.claude/projects/shop-api/s-big.jsonl', line: 181, column: 1, byte: 90211 },
      call: 'Edit src/server/config.ts',
      said: `${ANSI}\nString to replace not found in file.`,
      followed: 'Read src/server/config.ts',
    },
    by_version: [
      { agent: agent.agent, version: '2.1.197', weeks: split((i) => (i > 6 ? 0.9 : 0)) },
      { agent: agent.agent, version: '2.1.190', weeks: split((i) => (i > 6 ? 0.1 : 0.8)) },
      { agent: 'codex', version: '0.166.0', weeks: split((i) => (i > 6 ? 0 : 0.2)) },
    ],
    by_model: [
      { model: 'claude-sonnet-5', weeks: split(() => 0.7) },
      { model: 'gpt-6-codex', weeks: split(() => 0.3) },
    ],
    case: { id: issue.id, graders: [{ 'tool-call-count': { tool: 'Edit', status: 'failed', max: 0 } }] },
  };
}

export function occurrence(issue, i) {
  return {
    issue: issue.id,
    session: i % 3 === 0 ? 's-big' : `s-${i % 1999}`,
    call_id: `toolu_${i}`,
    call: 1 + ((i * 17) % 40),
    place: { file: `/home/dev/.claude/projects/shop-api/${i % 1999}.jsonl`, line: 10 + (i % 900), column: 1 },
    at: at(HOUR * (i % 1500)),
    project: PROJECTS[i % PROJECTS.length],
    model: AGENTS[i % 3].models[0],
    agent: AGENTS[i % 3].agent,
    excerpt:
      i % 50 === 7 ? HOSTILE : i % 10 === 3 ? ANSI : `String to replace not found: const port = ${3000 + (i % 50)}`,
  };
}

const axis = (next, total) => {
  if (total === 0) return { good: 0, total: 0, score: null, low: null, high: null };
  const good = Math.round(total * (0.6 + next() * 0.4));
  const score = good / total;
  const half = 0.98 / Math.sqrt(total);
  return { good, total, score, low: Math.max(0, score - half), high: Math.min(1, score + half) };
};

export function sessionRow(i) {
  const next = random(1000 + i);
  const { agent, versions, models } = AGENTS[Math.floor(next() * 3)];
  const calls = Math.floor(next() * next() * 300) + 1;
  const known = i % 23 !== 5;
  const failed = Math.floor(calls * next() * 0.2);
  return {
    id: `s-${i}`,
    source: i % 9 === 0 ? 'both' : 'file',
    host: agent,
    agent,
    version: versions[i % versions.length],
    model: models[i % models.length],
    project: PROJECTS[Math.floor(next() * PROJECTS.length)],
    path: `/home/dev/.sessions/s-${i}.jsonl`,
    request: i % 31 === 12 ? null : REQUESTS[i % REQUESTS.length],
    started: at(HOUR * i * 0.7 + 120_000),
    ended: i < 3 ? null : at(HOUR * i * 0.7),
    live: i < 3,
    turns: 1 + (i % 5),
    steps: calls,
    calls: known ? calls : null,
    failed: known ? failed : null,
    denied: known ? (i % 4 === 0 ? 1 : 0) : null,
    tokens: { total: known ? calls * 4_300 : null, input: null, output: null, cache: null },
    cost_usd: known && i % 6 !== 1 ? calls * 0.011 : null,
    duration_ms: calls * 5_200,
    axes: {
      selection: axis(next, calls),
      arguments: axis(next, calls),
      irreversibility: axis(next, i % 4 === 0 ? 0 : 7),
      recovery: axis(next, failed),
    },
    findings: { error: i % 7 === 0 ? 2 : 0, warning: i % 3 === 0 ? 1 + (i % 4) : 0, note: 0 },
    gap: i % 9 === 0 ? 'telemetry has 2 calls fewer than the session file (a failed Edit, a denied Bash)' : null,
    evaluated_at: at(0),
  };
}

/** A session with its timeline: main conversation, sub-agents, parallel calls. */
export function session(row, calls) {
  const next = random(99 + calls);
  const main = [];
  const agents = new Map();
  const strip = [];
  const info = [];
  const start = NOW - calls * 6_000 - HOUR;
  let [call, step, turn] = [0, 0, 0];
  const clock = () => new Date(start + call * 6_000).toISOString();
  const status = () => {
    const roll = next();
    return roll < 0.9
      ? 'succeeded'
      : roll < 0.965
        ? 'failed'
        : roll < 0.98
          ? 'denied'
          : roll < 0.99
            ? 'interrupted'
            : 'unknown';
  };
  const addCall = (list, agent, parallel, tool) => {
    call += 1;
    const name = tool ?? TOOLS[Math.floor(next() * 7)];
    const what = status();
    const title =
      call % 97 === 0 ? HOSTILE : call % 53 === 0 ? BIDI : TITLES[name][Math.floor(next() * TITLES[name].length)];
    const findings =
      next() < 0.04
        ? [{ code: 'R401', severity: 'error', title: 'The same failing call was repeated' }]
        : next() < 0.05
          ? [{ code: 'R101', severity: 'warning', title: 'Shell used instead of Grep' }]
          : [];
    const entry = {
      type: 'call',
      n: list.length + 1,
      call,
      step,
      parallel,
      tool: name,
      title,
      status: what,
      exit: name === 'Bash' ? (what === 'failed' ? 2 : 0) : null,
      ms: next() < 0.05 ? null : Math.round(next() * next() * 9_000),
      at: clock(),
      findings,
      agent,
      sub_agent: null,
    };
    list.push(entry);
    strip.push({ n: call, status: what, finding: findings.length > 0, agent, step, ms: entry.ms, entry: entry.n });
    info.push({ entry, turn });
    return entry;
  };
  while (call < calls) {
    if (call >= turn * Math.max(40, calls / 40)) {
      turn += 1;
      main.push({ type: 'turn', n: main.length + 1, turn, text: REQUESTS[turn % REQUESTS.length], at: clock() });
    }
    step += 1;
    if (next() < 0.35)
      main.push({
        type: 'text',
        n: main.length + 1,
        step,
        kind: next() < 0.3 ? 'thought' : 'said',
        text:
          next() < 0.2
            ? `I'll run the build first to see where the disk goes.\n\nThen:\n- measure every layer\n- remove what the image does not need\n- ${HOSTILE}\n- run the tests again and compare the numbers with those from before, so that we know that nothing else changed`
            : 'The configuration looks right. Next I check who calls it.',
        at: clock(),
      });
    const width = next() < 0.2 ? Math.min(2 + Math.floor(next() * 3), calls - call) : 1;
    for (let w = 0; w < width && call < calls; w += 1)
      addCall(main, null, width === 1 ? 'single' : w === 0 ? 'first' : w === width - 1 ? 'last' : 'middle');
    if (next() < 0.012 && calls - call > 30) {
      const parent = addCall(main, null, 'single', 'Task');
      const id = `agent-${agents.size + 1}`;
      const list = [];
      const count = 6 + Math.floor(next() * 14);
      list.push({ type: 'turn', n: 1, turn: 1, text: parent.title, at: clock() });
      for (let c = 0; c < count && call < calls; c += 1) addCall(list, id, 'single');
      const own = list.filter((entry) => entry.type === 'call');
      parent.sub_agent = {
        id,
        title: parent.title,
        calls: own.length,
        failed: own.filter((entry) => entry.status === 'failed').length,
      };
      agents.set(id, {
        id,
        parent_call: parent.call,
        title: parent.title,
        calls: own.length,
        failed: parent.sub_agent.failed,
        list,
      });
    }
  }
  const failed = strip.filter((tick) => tick.status === 'failed').length;
  const detail = {
    ...row,
    calls,
    failed,
    steps: step,
    turns: turn,
    started: new Date(start).toISOString(),
    duration_ms: calls * 6_000,
    turns_list: [],
    agents_list: [...agents.values()].map((agent) => ({ ...agent, list: undefined })),
    fidelity: ['durations of 5 % of the calls are not recorded'],
    evaluations: [
      {
        evaluator: 'judge:goal-reached',
        version: '1',
        verdict: 'pass',
        score: 0.9,
        reason: 'The image is smaller and the tests pass.',
        at: null,
      },
    ],
    strip,
  };
  return { detail, main, agents, info };
}

export function callDetail({ entry, turn }) {
  const edit = entry.tool === 'Edit' || entry.tool === 'Write';
  const failed = entry.status === 'failed';
  return {
    call: entry.call,
    call_id: `toolu_${entry.call}`,
    tool: entry.tool,
    title: entry.title,
    status: entry.status,
    status_from: entry.exit === null ? 'is_error' : 'exit code',
    exit: entry.exit,
    ms: entry.ms,
    started: entry.at,
    ended: null,
    step: entry.step,
    turn,
    arguments: edit
      ? {
          file_path: entry.title,
          old_string: 'const port = 3000;\nconst host = "0.0.0.0";',
          new_string: 'const port = Number(process.env.PORT ?? 3000);',
          replace_all: false,
        }
      : {
          command: entry.title,
          timeout: 120000,
          env: { CI: '1', NODE_ENV: 'test', nested: { list: [1, 2, { deep: HOSTILE }] } },
          description: 'Run the build and show what fills the disk',
        },
    arguments_text: null,
    result:
      entry.status === 'unknown'
        ? null
        : {
            text: failed
              ? `${ANSI}\n  at build (scripts/build.ts:41:7)\n\u001b[33mwarning\u001b[0m: 3 unused imports\n${HOSTILE}\n${BIDI}\n`
              : '\u001b[32m✓\u001b[0m 42 tests passed\nDone in 6.42s.\n'.repeat(12),
            truncated: entry.call % 10 === 0,
            bytes: 48_213,
          },
    diff: edit
      ? {
          path: entry.title,
          before: null,
          after: null,
          unified: `--- a/src/server/config.ts\n+++ b/src/server/config.ts\n@@ -10,6 +10,5 @@\n import { load } from './load';\n \n-const port = 3000;\n-const host = "0.0.0.0";\n+const port = Number(process.env.PORT ?? 3000);\n+// ${HOSTILE}\n \n export default { port };\n`,
        }
      : null,
    file_state: edit ? (entry.call % 2 ? 'known' : 'unknown') : null,
    findings: entry.findings.map((finding) => ({
      ...finding,
      message: `Call ${entry.call} repeats call ${Math.max(1, entry.call - 1)} with the same arguments after it failed.`,
      axis: 'recovery',
      evidence: [
        {
          call: Math.max(1, entry.call - 1),
          place: { file: '/home/dev/.claude/projects/shop-api/s-big.jsonl', line: 180, column: 1 },
          excerpt: HOSTILE,
        },
      ],
      fix: '- Read the error before running a command again.',
      confidence: 'certain',
    })),
    evaluations:
      entry.call % 5 === 0
        ? [
            {
              evaluator: 'judge:tool-choice',
              version: '3',
              verdict: 'fail',
              score: 0.2,
              reason: 'The agent searched with the shell although Grep was there.',
              at: entry.at,
            },
            {
              evaluator: 'arguments-valid',
              version: '1',
              verdict: 'pass',
              score: 1,
              reason: 'All arguments match the schema.',
              at: entry.at,
            },
          ]
        : [],
    place: { file: '/home/dev/.claude/projects/shop-api/s-big.jsonl', line: 12 + entry.call * 2, column: 1 },
    raw: [
      {
        place: { file: 's-big.jsonl', line: 12 + entry.call * 2, column: 1 },
        text: JSON.stringify({
          type: 'assistant',
          message: {
            content: [
              {
                type: 'tool_use',
                id: `toolu_${entry.call}`,
                name: entry.tool,
                input: { command: entry.title, note: HOSTILE },
              },
            ],
          },
        }),
      },
    ],
    effects: [
      {
        kind: edit ? 'write' : 'execute',
        target: entry.title,
        scope: 'project',
        reversibility: 'reversible',
        certainty: 'certain',
      },
    ],
    guard: entry.status === 'denied' ? { decision: 'deny', rule: 'no-rm', reason: 'rm -rf outside of target' } : null,
  };
}

export function tools() {
  const next = random(5);
  return TOOLS.map((tool, i) => {
    const calls = Math.round(60_000 / (i + 1) ** 1.4);
    const failed = Math.round(calls * next() * 0.18);
    return {
      tool: i === 9 ? HOSTILE : tool,
      calls,
      failed,
      rate: failed / calls,
      p50: i === 8 ? null : 120 * (i + 1),
      p95: i === 8 ? null : 2_400 * (i + 1),
      p99: i === 8 ? null : 9_100 * (i + 1),
      buckets: [
        { class: 'exit', count: Math.round(failed * 0.5) },
        { class: 'tests', count: Math.round(failed * 0.3) },
        { class: 'missing-path', count: Math.round(failed * 0.2) },
      ],
      recovery: { rate: failed ? 0.55 + next() * 0.4 : null, recovered: Math.round(failed * 0.7), decided: failed },
      weeks: WEEKS.map((week, w) => ({
        week,
        calls: Math.round(calls / 12),
        failed: Math.round((failed / 12) * (0.4 + next() * (w / 6))),
        p95: w === 4 ? null : 2_400 * (i + 1) * (0.7 + next() * 0.6),
      })),
    };
  });
}

export function runs() {
  return Array.from({ length: 8 }, (_, i) => {
    const failed = 2 + ((i * 3) % 7);
    return {
      id: `2026-11-${String(17 - i).padStart(2, '0')}-${'abcdefgh'[i]}${i}f3`,
      dir: `.toolmark/runs/${i}`,
      spec: 'toolmark.yaml',
      started: at(i * 26 * HOUR + HOUR),
      ended: i === 0 ? null : at(i * 26 * HOUR),
      targets: ['claude-sonnet-5', 'gpt-6-codex'],
      cases: 18,
      trials: 108,
      passed: 100 - failed,
      failed,
      unknown: 8,
      cost_usd: i % 3 === 2 ? null : 4.31 + i,
    };
  });
}

export function runDetail(run) {
  const next = random(run.id.length + run.failed);
  const cases = [
    'disk-full',
    'flaky-test',
    'rename-setting',
    'rate-limit',
    'invoice-total',
    HOSTILE,
    ...Array.from({ length: 12 }, (_, i) => `regression-${i + 1}`),
  ];
  const verdict = () => (next() < 0.86 ? 'pass' : next() < 0.75 ? 'fail' : 'unknown');
  const cells = cases.flatMap((name) =>
    run.targets.map((target) => ({
      case: name,
      target,
      trials: [1, 2, 3].map((n) => {
        const v = verdict();
        return {
          n,
          verdict: v,
          reason:
            v === 'pass'
              ? null
              : v === 'fail'
                ? `tool-call-count: 7 calls of Bash, at most 4 allowed ${HOSTILE}`
                : 'the judge did not answer in time',
          score: v === 'unknown' ? null : v === 'pass' ? 1 : 0.4,
          path: `.toolmark/runs/${run.id}/${n}.jsonl`,
        };
      }),
    })),
  );
  return { ...run, matrix: { cases, targets: run.targets, cells } };
}

export function comparison(a, b) {
  const side = (verdict, score) => ({
    verdict,
    score,
    trials: 3,
    passed: verdict === 'pass' ? 3 : 1,
    reason: verdict === 'fail' ? 'failed: tool-call-count' : '',
    measures: {},
  });
  const measure = (before, after) => ({ of: 18, before, after, difference: after - before });
  return {
    schema: 'toolmark.compare.v1',
    before: a,
    after: b,
    verdict: 'fail',
    gates: [{ fail_on: 'regression', verdict: 'fail', reason: '1 case that passed fails now' }],
    graded: {
      total: {
        cases: 18,
        passed_before: 15,
        passed_after: 15,
        regressions: 1,
        improvements: 1,
        unknown: 1,
        only_before: 0,
        only_after: 1,
        score: { of: 18, before: 0.917, after: 0.881, difference: -0.036, interval: [-0.094, 0.021] },
        mcnemar: { of: 17, p: 1 },
        measures: {
          calls: measure(210, 232),
          tokens: measure(326_000, 351_000),
          duration_ms: measure(222_000, 251_000),
          cost_usd: null,
        },
      },
      by: 'none',
      groups: [],
      cases: [
        {
          case: 'flaky-test',
          target: 'claude-sonnet-5',
          change: 'regression',
          before: side('pass', 1),
          after: side('fail', 0.875),
          difference: -0.125,
        },
        {
          case: 'rate-limit',
          target: 'claude-sonnet-5',
          change: 'improvement',
          before: side('fail', 0.5),
          after: side('pass', 1),
          difference: 0.5,
        },
        {
          case: 'disk-full',
          target: null,
          change: 'unknown',
          before: side('unknown', null),
          after: side('fail', 0.25),
          difference: null,
        },
        { case: HOSTILE, target: null, change: 'same', before: side('pass', 1), after: side('pass', 1), difference: 0 },
      ],
      only_before: [],
      only_after: [{ case: 'new-case', target: null, verdict: 'pass', score: 1 }],
    },
    notes: [],
  };
}

export function decision(i) {
  const kind = i % 17 === 0 ? 'deny' : i % 11 === 0 ? 'ask' : 'allow';
  return {
    at: at(i * 400_000),
    host: AGENTS[i % 2].agent,
    session: i % 5 === 4 ? null : 's-big',
    tool: TOOLS[i % 5],
    title: i % 40 === 3 ? HOSTILE : TITLES[TOOLS[i % 5]][0],
    decision: kind,
    rule: kind === 'allow' ? null : 'no-rm',
    reason: kind === 'allow' ? null : 'rm -rf outside of target directories',
    mode: 'enforce',
  };
}

export const projects = () => PROJECTS.map((project, i) => ({ project, sessions: 400 - i * 40 }));
export const agents = () => AGENTS.map((agent, i) => ({ ...agent, sessions: 900 - i * 200 }));
export const guardStatus = () => ({
  hosts: [
    {
      host: 'claude-code',
      installed: true,
      settings: '/home/dev/.claude/settings.json',
      accepted: true,
      last_decision: at(60_000),
      problem: null,
    },
    {
      host: 'codex',
      installed: true,
      settings: '/home/dev/.codex/config.toml',
      accepted: false,
      last_decision: null,
      problem: null,
    },
    {
      host: 'gemini-cli',
      installed: false,
      settings: '/home/dev/.gemini/settings.json',
      accepted: null,
      last_decision: null,
      problem: 'settings.json is not valid JSON',
    },
  ],
});
export const info = () => ({
  version: '0.2.0',
  schema_version: 1,
  started_at: at(HOUR),
  demo: false,
  watched: [
    {
      path: '/home/dev/.claude/projects',
      host: 'claude-code',
      exists: true,
      sessions: 1400,
      last_change: at(5_000),
      problem: null,
    },
    {
      path: '/home/dev/.codex/sessions',
      host: 'codex',
      exists: true,
      sessions: 600,
      last_change: at(HOUR),
      problem: null,
    },
    { path: '/home/dev/.gemini', host: 'gemini-cli', exists: false, sessions: 0, last_change: null, problem: null },
  ],
  receivers: { http: '127.0.0.1:4318', grpc: '127.0.0.1:4317', ui: '127.0.0.1:4319' },
  counts: { sessions: 2000, calls: 214_000, failures: 9_800, findings: 4_100, issues: 300 },
  readonly: false,
  problems: [],
});
