// Starts a browser and a server for the tests, or says why they are skipped.
import { existsSync } from 'node:fs';
import { start } from '../dev/mock.mjs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

async function load(name) {
  try {
    return await import(name);
  } catch {
    return null;
  }
}

const playwright = await load('playwright-core');
export const axe = await load('axe-core');

/** Why the browser tests cannot run here; false if they can. */
export const skip = !playwright
  ? 'SKIPPED: playwright-core is not installed (npm ci)'
  : !existsSync(CHROMIUM)
    ? `SKIPPED: no Chromium at ${CHROMIUM}`
    : false;

/** A server under test: the mock, or a real one named by TOOLMARK_URL. */
export async function serve(options = {}) {
  const real = process.env.TOOLMARK_URL;
  if (real) return { url: real.replace(/\/$/, ''), change: null, close: async () => undefined, real: true };
  return { ...(await start(options)), real: false };
}

export const needsMock = process.env.TOOLMARK_URL ? 'SKIPPED: needs the generated data of the mock' : false;

export const launch = () => playwright.chromium.launch({ executablePath: CHROMIUM, headless: true, args: ARGS });

/** A page that records what must not happen: console errors and requests to other hosts. */
export async function open(browser, url, { width = 1280, height = 800, scheme = 'light', reducedMotion = 'reduce' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => (problems.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on('request', (request) => {
    const address = request.url();
    if (!address.startsWith(url) && !address.startsWith('data:') && !address.startsWith('file:')) problems.push(`foreign request: ${address}`);
  });
  return { page, problems, close: () => context.close() };
}

/** Addresses of every page, with ids that the server has. */
export async function addresses(url) {
  const get = async (path) => (await fetch(`${url}/api/v1${path}`)).json();
  const [issues, sessions, runs] = await Promise.all([get('/issues?limit=50'), get('/sessions?limit=200'), get('/runs')]);
  const session = [...sessions.items].sort((a, b) => (b.calls ?? 0) - (a.calls ?? 0))[0];
  const [issue, [a, b]] = [issues.items[0], runs.items];
  const id = (value) => encodeURIComponent(value);
  return {
    feed: '/feed',
    ...(issue && { issue: `/issue/${id(issue.id)}` }),
    sessions: '/sessions',
    ...(session && { session: `/session/${id(session.id)}?call=1`, 'session-start': `/session/${id(session.id)}` }),
    tools: '/tools',
    runs: '/runs',
    ...(a && { run: `/run/${id(a.id)}` }),
    ...(b && { compare: `/compare?a=${id(b.id)}&b=${id(a.id)}` }),
    guard: '/guard',
    help: '/help',
  };
}

/** Waits until the page shows its data. */
export async function settled(page) {
  await page.waitForSelector('main h1, main h2, main [role=alert]', { state: 'attached' });
  await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'), null, { timeout: 10_000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
