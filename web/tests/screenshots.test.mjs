// Pictures of every page in both themes and three widths, for people to look at: out/screenshots/.
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { addresses, launch, open, serve, settled, skip } from './browser.mjs';

const OUT = new URL('../out/screenshots/', import.meta.url).pathname;
const WIDTHS = { 390: 844, 1280: 800, 1920: 1080 };
const only = process.env.PAGES?.split(',');
const widths = process.env.WIDTHS?.split(',') ?? Object.keys(WIDTHS);
const schemes = process.env.SCHEMES?.split(',') ?? ['light', 'dark'];

let server, browser;
before(async () => {
  if (skip) return;
  await mkdir(OUT, { recursive: true });
  [server, browser] = [await serve(), await launch()];
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('screenshots', { skip }, async () => {
  const pages = Object.entries(await addresses(server.url)).filter(([name]) => !only || only.includes(name));
  for (const scheme of schemes) {
    for (const width of widths) {
      const { page, close } = await open(browser, server.url, { width: Number(width), height: WIDTHS[width], scheme });
      for (const [name, path] of pages) {
        await page.goto(server.url + path);
        await settled(page);
        await page.screenshot({ path: `${OUT}${name}-${width}-${scheme}.png` });
      }
      await close();
    }
  }
});
