// Starts the real `toolmark serve` on free ports, with a store and a fixture folder of its own.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { writeFixture } from './fixture.mjs';

export const BINARY = process.env.TOOLMARK_BIN ?? new URL('../../target/debug/toolmark', import.meta.url).pathname;
/** Why the tests with the real server cannot run here; false if they can. */
export const noBinary = existsSync(BINARY) ? false : `SKIPPED: no binary at ${BINARY} (cargo build, or TOOLMARK_BIN)`;
/** What is waited for comes within this time, also on a busy machine. */
export const PATIENCE = 60_000;

async function until(what, test) {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    const value = await test();
    if (value) return value;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`waited too long for ${what}`);
}

/** Starts a server over a new fixture folder, and waits until it has read all of it. */
export async function startServer({ fixture = true, long = 0, isTame = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'toolmark-page-'));
  const { sessions, runs, environment } = fixture
    ? await writeFixture(folder, BINARY, { long, isTame })
    : {
        sessions: join(folder, 'none'),
        runs: join(folder, 'runs'),
        environment: { PATH: process.env.PATH, HOME: folder, TOOLMARK_GUARD_LOG: join(folder, 'guard.jsonl') },
      };
  const args = [
    'serve',
    '--quiet',
    '--ui',
    '127.0.0.1:0',
    '--http',
    '127.0.0.1:0',
    '--grpc',
    'off',
    '--watch',
    sessions,
    '--runs',
    runs,
    '--db',
    join(folder, 'serve.db'),
  ];
  const process_ = spawn(BINARY, args, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => process_.once('exit', done));
  const close = async () => {
    process_.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const lines = createInterface({ input: process_.stdout });
    const url = await Promise.race([
      new Promise((done) => lines.once('line', (line) => done(line.trim()))),
      ended.then((code) => Promise.reject(new Error(`toolmark serve ended with ${code}`))),
    ]);
    const get = async (path) => (await fetch(`${url}/api/v1${path}`)).json();
    if (fixture) {
      // As many sessions twice in a row, and none of them unevaluated: all is read.
      let before = -1;
      await until('the sessions', async () => {
        const { total, items } = await get('/sessions?limit=1000');
        const settled = total === before && total > 30 && items.every((row) => row.evaluated_at);
        before = total;
        return settled;
      });
      await until('the issues', async () => (await get('/issues')).total > 0);
    }
    return { url, folder, sessions, get, close, until, pid: process_.pid };
  } catch (problem) {
    await close();
    throw problem;
  }
}
