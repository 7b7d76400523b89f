// The committed bundle is what the sources build, fits the budget and names no other host.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const ROOT = new URL('..', import.meta.url).pathname;
const FILES = ['app.css', 'app.js', 'index.html', 'report.html'];
const skip = existsSync(`${ROOT}node_modules/vite`) ? false : 'SKIPPED: vite is not installed (npm ci)';

test('the bundle holds four files and fits the budget', async () => {
  assert.deepEqual((await readdir(`${ROOT}dist`)).sort(), FILES);
  const contents = await Promise.all(FILES.map((file) => readFile(`${ROOT}dist/${file}`)));
  const size = contents.reduce((sum, content) => sum + gzipSync(content).length, 0);
  assert.ok(size <= 120_000, `${size} bytes after gzip`);
});

test('the bundle fetches nothing from elsewhere', async () => {
  // Names of XML namespaces and links in error messages of Svelte are text, not requests.
  const harmless = /^https?:\/\/(www\.w3\.org\/|svelte\.dev\/e\/|127\.0\.0\.1)/;
  for (const file of FILES) {
    const text = await readFile(`${ROOT}dist/${file}`, 'utf8');
    const found = (text.match(/https?:\/\/[^\s"'`)<>$]*/g) ?? []).filter(
      (address) => address.length > 8 && !harmless.test(address),
    );
    assert.deepEqual(found, [], file);
  }
});

test('no component inserts HTML or inline styles', async () => {
  for (const file of await readdir(`${ROOT}src`, { recursive: true })) {
    if (!/\.(svelte|ts)$/.test(file)) continue;
    const text = await readFile(`${ROOT}src/${file}`, 'utf8');
    assert.doesNotMatch(text, /\{@html|innerHTML|insertAdjacentHTML|document\.write|\sstyle="/, file);
  }
});

test('building again gives the committed bytes', { skip }, async () => {
  const out = `${ROOT}out/rebuilt`;
  await rm(out, { recursive: true, force: true });
  execFileSync(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--outDir', out, '--logLevel', 'error'], {
    cwd: ROOT,
  });
  for (const file of FILES) {
    const [committed, rebuilt] = await Promise.all([readFile(`${ROOT}dist/${file}`), readFile(`${out}/${file}`)]);
    assert.ok(committed.equals(rebuilt), `${file} differs from what the sources build: run npm run build`);
  }
});
