// Pictures of the page, of generated sessions only.
//   node tests/shots.mjs            the pictures of the documentation: docs/images/page-*.png, light and dark
//   node tests/shots.mjs --review   every page in both themes and three widths: out/screenshots/
import { mkdir, stat } from 'node:fs/promises';
import { addresses, launch, open, settled, skip } from './browser.mjs';
import { noBinary, startServer } from './served.mjs';

if (skip || noBinary) throw new Error(skip || noBinary);
const isReview = process.argv.includes('--review');
const OUT = new URL(isReview ? '../out/screenshots/' : '../../docs/images/', import.meta.url).pathname;
const MAX_BYTES = 200_000;
const HEIGHTS = { 390: 844, 1280: 800, 1920: 1080 };

async function shoot(browser, url, name, path, { width, scheme, height = HEIGHTS[width], keys = [] }) {
  const { page, problems, close } = await open(browser, url, { width, height, scheme });
  await page.goto(url + path);
  await settled(page);
  for (const key of keys) await page.keyboard.press(key);
  if (keys.length > 0) await settled(page);
  const file = `${OUT}${name}.png`;
  await page.screenshot({ path: file });
  if (problems.length > 0) throw new Error(`${name}: ${problems.join(', ')}`);
  const { size } = await stat(file);
  if (!isReview && size > MAX_BYTES) throw new Error(`${name}: ${size} bytes`);
  console.log(`${file} ${size}`);
  await close();
}

await mkdir(OUT, { recursive: true });
const [server, browser] = await Promise.all([
  startServer({ isTame: !isReview, long: isReview ? 10_000 : 0 }),
  launch(),
]);
try {
  const issues = (await server.get('/issues')).items;
  const session = '5e551001-0000-4000-8000-000000001001';
  if (isReview) {
    const paths = {
      ...(await addresses(server.url)),
      'session-diff': `/session/${session}?call=7&tab=diff`,
      'session-compared': `/session/${session}?with=5e551006-0000-4000-8000-000000001006`,
      replay: '/guard?view=replay',
    };
    for (const scheme of ['light', 'dark']) {
      for (const width of Object.keys(HEIGHTS)) {
        for (const [name, path] of Object.entries(paths))
          await shoot(browser, server.url, `${name}-${width}-${scheme}`, path, { width: Number(width), scheme });
      }
    }
  } else {
    const edits = issues.find(({ title }) => title.startsWith("An edit's text"));
    for (const scheme of ['light', 'dark']) {
      const options = { width: 1280, height: 720, scheme };
      await shoot(browser, server.url, `page-feed-${scheme}`, '/feed', { ...options, keys: ['j', 'j', 'j', ']'] });
      await shoot(browser, server.url, `page-issue-${scheme}`, `/issue/${edits.id}`, options);
      await shoot(browser, server.url, `page-session-${scheme}`, `/session/${session}?call=3&tab=findings`, options);
    }
  }
} finally {
  await browser.close();
  await server.close();
}
