// A folder of small session files, a guard log and runs, as agents and toolmark itself write them.
// The real server reads it: what the tests see went through the readers, the rules and the store.
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = new URL('../..', import.meta.url).pathname;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** Text that must stay text wherever it is shown. */
export const HOSTILE = '<img src=x onerror=alert(1)><script>window.pwned=1</script>';
const ANSI =
  '\u001b[31merror\u001b[0m: \u001b[1mbuild\u001b[22m failed \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007';

/** A session file of Claude Code that is written step by step. */
export class SessionFile {
  #lines = [];
  #last = null;
  #count = 0;
  #clock;

  constructor({ id, project, version = '2.1.197', model = 'claude-sonnet-5', start, agent = null }) {
    Object.assign(this, { id, project, version, model, agent });
    this.#clock = start;
  }

  /** When the last line was written. */
  get end() {
    return this.#clock;
  }

  get text() {
    return `${this.#lines.join('\n')}\n`;
  }

  #add(type, message, ms, extra = {}) {
    this.#count += 1;
    this.#clock += ms;
    const uuid = `${this.agent ?? this.id}-${this.#count}`;
    const agent = this.agent ? { isSidechain: true, agentId: this.agent } : { isSidechain: false };
    const record = {
      parentUuid: this.#last,
      ...agent,
      userType: 'external',
      cwd: `/home/dev/src/${this.project}`,
      sessionId: this.id,
      version: this.version,
      gitBranch: 'main',
      type,
      uuid,
      timestamp: new Date(this.#clock).toISOString(),
      message,
      ...extra,
    };
    this.#last = uuid;
    this.#lines.push(JSON.stringify(record));
    return this;
  }

  user(text, ms = 20_000) {
    return this.#add('user', { role: 'user', content: text }, ms);
  }

  #assistant(id, block, ms) {
    const usage = {
      input_tokens: 12,
      cache_creation_input_tokens: 900,
      cache_read_input_tokens: 18_000,
      output_tokens: 140,
    };
    return this.#add(
      'assistant',
      { model: this.model, id, type: 'message', role: 'assistant', content: [block], usage },
      ms,
    );
  }

  say(text) {
    return this.#assistant(`msg_${this.id}_${this.#count}`, { type: 'text', text }, 3_000);
  }

  think(text) {
    return this.#assistant(
      `msg_${this.id}_${this.#count}`,
      { type: 'thinking', thinking: text, signature: 'x' },
      2_000,
    );
  }

  /** Calls of one step: they run side by side. */
  step(...calls) {
    const message = `msg_${this.id}_${this.#count}`;
    const numbered = calls.map((call) => ({ ...call, id: `toolu_${this.agent ?? this.id}_${(this.#count += 1)}` }));
    for (const { id, tool, input } of numbered)
      this.#assistant(message, { type: 'tool_use', id, name: tool, input }, 400);
    for (const { id, result = '', error = false, ms = 900, extra } of numbered) {
      const block = { tool_use_id: id, type: 'tool_result', content: result, ...(error && { is_error: true }) };
      this.#add('user', { role: 'user', content: [block] }, ms, {
        toolUseResult: extra ?? (error ? `Error: ${result}` : { stdout: result, stderr: '', interrupted: false }),
      });
    }
    return this;
  }
}

const bash = (command, result = '', options = {}) => ({
  tool: 'Bash',
  input: { command, description: 'Run it' },
  result,
  ...options,
});
const failing = (command, code, result, ms = 6_400) =>
  bash(command, `Exit code ${code}\n${result}`, { error: true, ms });
const numbered = (text) =>
  text
    .split('\n')
    .map((line, i) => `${String(i + 1).padStart(6)}\t${line}`)
    .join('\n');
const read = (path, text) => ({
  tool: 'Read',
  input: { file_path: path },
  result: numbered(text),
  extra: {
    type: 'text',
    file: {
      filePath: path,
      content: text,
      numLines: text.split('\n').length,
      startLine: 1,
      totalLines: text.split('\n').length,
    },
  },
  ms: 500,
});
const edit = (path, before, after, found = true) => ({
  tool: 'Edit',
  input: { file_path: path, old_string: before, new_string: after },
  ms: 700,
  result: found
    ? `The file ${path} has been updated.`
    : `<tool_use_error>String to replace not found in file.\nString: ${before}</tool_use_error>`,
  error: !found,
  ...(found && { extra: { filePath: path, oldString: before, newString: after, replaceAll: false } }),
});

const CONFIG =
  'import { load } from "./load";\n\nconst port = 3000;\nconst host = "0.0.0.0";\n\nexport default { port, host };\n';
const TSC = "src/cache/store.ts(41,27): error TS2339: Property 'cacheDir' does not exist on type 'Settings'.\n";
const VERSIONS = ['2.1.190', '2.1.197'];
const MODELS = ['claude-sonnet-5', 'claude-opus-5'];
const PROJECTS = ['shop-api', 'billing', 'docs-site'];
const REQUESTS = [
  'CI ran out of disk space while building the image. Find out what fills it and make the build smaller.',
  'Add a rate limit to the login endpoint and a test for it.',
  'The invoice total is wrong when a discount and a tax apply. Fix it.',
  'Rename the setting `cache.ttl` to `cache.max_age` everywhere and keep the old name working.',
  'Flaky test: checkout_spec fails one time in ten. Make it deterministic.',
];

/** What goes wrong in a session, by kind. */
const SCENES = {
  editMiss(s) {
    const path = `/home/dev/src/${s.project}/src/server/config.ts`;
    s.say('I look at the configuration first.').step(read(path, CONFIG));
    s.step(bash('npx prettier --write src/server/config.ts', 'src/server/config.ts 41ms'));
    s.step(edit(path, 'const port = 3000\nconst host', 'const port = Number(process.env.PORT)', false));
    s.say('The formatter changed the file. I read it again.').step(read(path, CONFIG));
    s.step(edit(path, 'const port = 3000;', 'const port = Number(process.env.PORT ?? 3000);'));
    s.step(bash('npm test', '42 passed', { ms: 8_000 }));
    s.say('The port comes from the environment now; the tests pass.');
  },
  blindRetry(s) {
    s.think('The build may be stale.').say('I run the build to see the failure.');
    s.step(
      failing('npm run build', 2, `> ${s.project}@3.8.1 build\n> tsc -p .\n\n${TSC}`),
      read(`/home/dev/src/${s.project}/src/cache/store.ts`, 'const dir = settings.cacheDir;\n'),
    );
    for (let i = 0; i < 3; i += 1)
      s.step(failing('npm run build', 2, `> ${s.project}@3.8.1 build\n> tsc -p .\n\n${TSC}`));
    // A session that searches with the tool shows that it has one.
    s.step({
      tool: 'Grep',
      input: { pattern: 'interface Settings', path: 'src' },
      result: 'src/settings.ts:3:interface Settings {',
      ms: 200,
    });
    s.step(bash('grep -rn "cacheDir" src', 'src/cache/store.ts:41:  const dir = settings.cacheDir;'));
    s.step(edit(`/home/dev/src/${s.project}/src/cache/store.ts`, 'settings.cacheDir', 'settings.cacheRoot'));
    s.step(bash('npm run build', 'built in 4.1s', { ms: 7_000 }));
  },
  missingProgram(s) {
    s.step(failing('rg -n "parse_invoice" crates', 127, '/bin/bash: line 1: rg: command not found', 120));
    s.step({
      tool: 'Grep',
      input: { pattern: 'parse_invoice', path: 'crates' },
      result: 'crates/billing/src/invoice.rs:12:fn parse_invoice',
      ms: 200,
    });
    s.say('`parse_invoice` is only used in `invoice.rs`.');
  },
  destructive(s) {
    s.say('The disk is nearly full. I free some space first.');
    s.step(bash('df -h /', '/dev/nvme0n1p2  233G  229G  4.1G  99% /'));
    s.step(bash('rm -rf dist ../shared-fixtures /var/cache/harbour', ''));
    s.step({
      ...bash(
        'sudo extundelete /dev/nvme0n1p2',
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.",
      ),
      error: true,
    });
  },
  clean(s) {
    const path = `/home/dev/src/${s.project}/README.md`;
    s.step(read(path, '# Shop\n\nRun `npm test`.\n'))
      .step(edit(path, 'Run `npm test`.', 'Run `npm ci && npm test`.'))
      .say('Done.');
  },
};

function subAgents(folder, s, start) {
  const agent = `a${s.id.slice(-4)}`;
  const own = new SessionFile({ ...s, agent, start: start + 30_000 });
  own.user('Find the usages of parse_invoice and say who calls it.');
  own.step({ tool: 'Grep', input: { pattern: 'parse_invoice' }, result: 'crates/billing/src/invoice.rs:12', ms: 180 });
  own.step(
    failing('cargo tree -i billing', 101, 'error: package ID specification `billing` did not match any packages', 900),
  );
  own
    .step(read('/home/dev/src/billing/crates/billing/src/invoice.rs', 'fn parse_invoice() {}\n'))
    .say('Only `invoice.rs` calls it.');
  s.step({
    tool: 'Task',
    input: {
      description: 'find usages',
      prompt: 'Find the usages of parse_invoice and say who calls it.',
      subagent_type: 'general-purpose',
    },
    result: 'Only `invoice.rs` calls it.',
    ms: 31_000,
    extra: {
      status: 'completed',
      agentId: agent,
      totalDurationMs: 31_000,
      content: [{ type: 'text', text: 'Only `invoice.rs` calls it.' }],
    },
  });
  return [[join(folder, s.id, 'subagents', `agent-${agent}.jsonl`), own.text, own.end]];
}

function hostile(start) {
  const s = new SessionFile({ id: '0b5ad000-0000-4000-8000-00000000dead', project: 'docs-site', start });
  s.user(`Explain ${HOSTILE} in the template`).say(`It is ${HOSTILE} and \u202egnp.exe\u200b.`);
  s.step(failing('npm run build', 1, `${ANSI}\n${HOSTILE}\n</script><!--`), bash(`echo "${HOSTILE}"`, HOSTILE));
  s.step(edit('/home/dev/src/docs-site/a.html', HOSTILE, `</script>${HOSTILE}`, false));
  s.step({ tool: HOSTILE, input: { [HOSTILE]: HOSTILE }, result: '{"a":[1,{"deep":"</script>"}]}' });
  return s;
}

/** A session of so many calls: every fifth edits, every ninth fails. */
export function longSession(calls, start) {
  const s = new SessionFile({ id: '10000000-0000-4000-8000-000000010000', project: 'monolith', start });
  for (let i = 0; i < calls; i += 1) {
    if (i % 250 === 0) s.user(`Part ${i / 250 + 1}: move the next module to the new layout.`);
    if (i % 20 === 0) s.say(`Module ${i}: I look at it, change it and run its tests.`);
    const path = `/home/dev/src/monolith/src/module${i % 400}.ts`;
    if (i % 9 === 8)
      s.step(failing(`npm test -- module${i}`, 1, `FAIL src/module${i}.test.ts\n  expected 1 to be 2`, 1_400));
    else if (i % 5 === 4) s.step(edit(path, `const a${i} = 1;`, `const a${i} = 2;`));
    else s.step(read(path, `const a${i + 1} = 1;\nexport { a${i + 1} };\n`));
  }
  return s;
}

/** Session files as [path, text, time of the last line]; `now` is when the newest of them was written, `isTame` leaves out the hostile one. */
export function sessionFiles(folder, now, isTame) {
  const files = [];
  const keep = (s, more = []) => files.push([join(folder, `${s.id}.jsonl`), s.text, s.end], ...more);
  const names = Object.keys(SCENES);
  for (let i = 0; i < 30; i += 1) {
    const scene = i % 6 === 5 ? 'editMiss' : names[i % names.length];
    const start = now - 90_000 - Math.floor(i / 4) * WEEK - (i % 4) * 9 * HOUR;
    const old = i >= 12;
    const s = new SessionFile({
      id: `5e5510${String(i).padStart(2, '0')}-0000-4000-8000-00000000${String(1000 + i)}`,
      project: PROJECTS[i % 3],
      version: VERSIONS[old ? 0 : 1],
      model: MODELS[i % 2],
      start,
    });
    s.user(REQUESTS[i % REQUESTS.length]);
    const more = i % 7 === 2 ? subAgents(folder, s, start) : [];
    SCENES[scene](s);
    if (i % 5 === 0) s.user('Thanks. Now run the linter, too.').step(bash('npm run lint', 'no problems'));
    keep(s, more);
  }
  if (!isTame) keep(hostile(now - 2 * DAY));
  return files;
}

function guardLog(now, isTame) {
  const commands = [
    ['git status --short', 'allow', 'default', 'nothing is changed'],
    ['rm -rf ../shared-fixtures', 'deny', 'no-rm-outside', 'deletes files outside of the project'],
    ['git push --force origin main', 'ask', 'force-push', 'rewrites history that others have'],
    ['npm test', 'allow', 'default', 'nothing is changed'],
    [isTame ? 'npm run lint' : `echo ${HOSTILE}`, 'allow', 'default', 'nothing is changed'],
  ];
  return Array.from({ length: 60 }, (_, i) => {
    const [command, decision, rule, reason] = commands[i % commands.length];
    const host = i % 4 === 3 ? 'codex' : 'claude-code';
    return `${JSON.stringify({ toolmark_guard: 1, time: new Date(now - (60 - i) * 17 * 60_000).toISOString(), host, session: '5e551000-0000-4000-8000-000000001000', cwd: '/home/dev/src/shop-api', event: 'PreToolUse', moment: 'before', call_id: `toolu_${i}`, tool: 'Bash', args: { command }, decision, rule, reason, mode: 'default', duration_us: 900, pid: 1 })}\n`;
  }).join('');
}

/** Answers depend on trial and run, so that comparing two runs has something to say. */
const RUN_SPEC = `
targets:
  small: {command: [sh, "{spec_dir}/answer.sh", "{output_file}", "{case}", small, "{trial}"], trace: output-file}
  large: {command: [sh, "{spec_dir}/answer.sh", "{output_file}", "{case}", large, "{trial}"], trace: output-file}
run: {trials: 3, workspace: {}}
graders: [{type: output-matches, config: {pattern: good}}]
cases: [{id: rate-limit, prompt: Add a rate limit}, {id: invoice-total, prompt: Fix the total}, {id: rename-setting, prompt: Rename it}, {id: flaky-checkout, prompt: Make it deterministic}]
`;
const answers = (badCases) => `case "$2/$3/$4" in ${badCases}) word=bad;; *) word=good;; esac
printf '{"output_messages":[{"role":"assistant","content":"%s"}],"token_usage":{"input":%s00,"output":90},"cost_usd":0.0%s}' $word $(( $4 + 5 )) $(( $4 + 1 )) > "$1"
`;

async function runs(binary, folder, environment) {
  const work = join(folder, 'run');
  await mkdir(work, { recursive: true });
  await writeFile(join(work, 'toolmark.yaml'), RUN_SPEC);
  const out = [join(folder, 'runs', '2026-baseline'), join(folder, 'runs', '2026-branch')];
  for (const [i, bad] of [
    'rate-limit/small/*|invoice-total/*/2',
    'invoice-total/*/2|flaky-checkout/*/*|rename-setting/small/1',
  ].entries()) {
    await writeFile(join(work, 'answer.sh'), answers(bad));
    // The exit code says that trials failed, which they shall.
    await promisify(execFile)(binary, ['run', 'toolmark.yaml', '--all-trials', '--out', out[i], '--quiet'], {
      cwd: work,
      env: environment,
      timeout: 60_000,
    }).catch((error) => {
      if (error.code !== 1) throw error;
    });
  }
}

/** Everything that a server of the tests watches. */
export async function writeFixture(folder, binary, { now = Date.now(), long = 0, isTame = false } = {}) {
  const sessions = join(folder, 'sessions');
  await mkdir(sessions, { recursive: true });
  // What was written long ago is not live: the time of a file says so.
  const write = async (path, text, time) => {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text);
    await utimes(path, time / 1_000, time / 1_000);
  };
  for (const [path, text, time] of sessionFiles(sessions, now, isTame)) await write(path, text, time);
  if (long) {
    const file = longSession(long, now - 9 * DAY);
    await write(join(sessions, `${file.id}.jsonl`), file.text, file.end);
  }
  for (const host of ['codex', 'claude-code']) {
    const to = join(sessions, host);
    await cp(join(ROOT, 'samples', host), to, { recursive: true });
    for (const name of await readdir(to))
      await utimes(join(to, name), (now - 8 * WEEK) / 1_000, (now - 8 * WEEK) / 1_000);
  }
  const log = join(folder, 'guard.jsonl');
  await writeFile(log, guardLog(now, isTame));
  const environment = { PATH: process.env.PATH, HOME: join(folder, 'home'), TOOLMARK_GUARD_LOG: log, NO_COLOR: '1' };
  await mkdir(environment.HOME, { recursive: true });
  await promisify(execFile)(binary, ['guard', 'install', 'claude-code', 'codex', '--format', 'json'], {
    cwd: folder,
    env: environment,
    timeout: 60_000,
  });
  await runs(binary, folder, environment);
  return { sessions, runs: join(folder, 'runs'), environment };
}
