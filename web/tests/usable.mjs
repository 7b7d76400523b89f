// How long a page takes until something is shown: node tests/usable.mjs URL SELECTOR
// Prints milliseconds from the start of loading, the median of five.
import { launch, open, skip } from './browser.mjs';

if (skip) throw new Error(skip);
const [url, selector] = process.argv.slice(2);
const browser = await launch();
try {
  const { page } = await open(browser, new URL(url).origin);
  const times = [];
  for (let i = 0; i < 5; i += 1) {
    await page.goto('about:blank');
    await page.goto(url);
    await page.waitForFunction((wanted) => {
      if (document.querySelector(wanted)) window.readyAt ??= performance.now();
      return window.readyAt;
    }, selector);
    times.push(await page.evaluate(() => window.readyAt));
  }
  console.log(times.sort((a, b) => a - b)[2]);
} finally {
  await browser.close();
}
