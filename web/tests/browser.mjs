// Starts a browser for the tests, or says why they are skipped.
import { existsSync } from 'node:fs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

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
  ? 'SKIPPED: playwright-core is not installed (npm install)'
  : !existsSync(CHROMIUM)
    ? `SKIPPED: no Chromium at ${CHROMIUM}`
    : false;

/** The page as it is built now instead of the one in the binary, which saves building the binary while working on the page. */
const fromDist = process.env.TOOLMARK_PAGE === 'dist';
const DIST = new URL('../dist/', import.meta.url).pathname;
const FROM_DIST = { '/app.js': 'text/javascript', '/app.css': 'text/css' };

export const launch = () => playwright.chromium.launch({ executablePath: CHROMIUM, headless: true, args: ARGS });

/** A page that records what must not happen: console errors and requests to other hosts. */
export async function open(
  browser,
  url,
  { width = 1280, height = 800, scheme = 'light', reducedMotion = 'reduce' } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  if (fromDist && url.startsWith('http'))
    for (const [path, contentType] of Object.entries(FROM_DIST))
      await page.route(url + path, (route) => route.fulfill({ path: DIST + path, contentType }));
  const problems = [];
  page.on(
    'console',
    (message) => ['error', 'warning'].includes(message.type()) && problems.push(`console: ${message.text()}`),
  );
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => (problems.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on('request', (request) => {
    const address = request.url();
    if (!address.startsWith(url) && !address.startsWith('data:') && !address.startsWith('file:'))
      problems.push(`foreign request: ${address}`);
  });
  return { page, problems, close: () => context.close() };
}

/** Addresses of every page, with ids that the server has. */
export async function addresses(url) {
  const get = async (path) => (await fetch(`${url}/api/v1${path}`)).json();
  const [issues, sessions, runs] = await Promise.all([
    get('/issues?limit=50'),
    get('/sessions?limit=200'),
    get('/runs'),
  ]);
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

/** Serious and critical violations that axe-core finds. */
export async function violations(page) {
  await page.evaluate(axe.default.source);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html }) => html.slice(0, 160))
          .join(' | ')}`,
    );
}

/** Waits until the page shows its data. */
export async function settled(page) {
  await page.waitForSelector('main h1, main h2, main [role=alert]', { state: 'attached' });
  await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'), null, { timeout: 10_000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
