// Writes index.html and the template of single-file reports beside the bundle, and checks that the
// bundle can be inlined and fits the budget.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

const BUDGET_BYTES = 120_000;

const head = (extra) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
${extra}<title>toolmark</title>
`;

const body = `<body>
<div id="app"></div>
`;

const noscript = `<noscript>This page needs JavaScript. Without it, use toolmark feed, toolmark check and toolmark show in a terminal.</noscript>
`;

const index = () => `${head('')}<link rel="icon" href="data:,">
<link rel="stylesheet" href="/app.css">
<script defer src="/app.js"></script>
</head>
${body}${noscript}</body>
</html>
`;

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const report = (js, css) => {
  const policy = `default-src 'none'; script-src ${hash(js)}; style-src ${hash(css)}; img-src data:; base-uri 'none'; form-action 'none'`;
  return `${head(`<meta http-equiv="Content-Security-Policy" content="${policy}">\n`)}<link rel="icon" href="data:,">
<style>/*toolmark:css*/</style>
</head>
${body}<!--toolmark:static-->
<!--toolmark:data-->
<script type="text/javascript">/*toolmark:js*/</script>
</body>
</html>
`;
};

/** @returns {import('vite').Plugin} */
export function pages() {
  return {
    name: 'toolmark-pages',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const names = Object.keys(bundle).sort().join(', ');
        if (names !== 'app.css, app.js') this.error(`expected one script and one style sheet, got ${names}`);
        // Svelte's templates contain comments; inside an inlined script they would confuse the HTML parser.
        const plain = bundle['app.js'].code.replaceAll('<!--', '<\\!--');
        // A report may be printed to a terminal. Strings of Svelte have control characters as they are; escaped they are the same.
        const js = (bundle['app.js'].code = plain.replace(
          /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu,
          (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ));
        const css = String(bundle['app.css'].source);
        if (/<\/script|<!--/i.test(js)) this.error('app.js contains "</script" or "<!--" and cannot be inlined');
        if (/<\/style/i.test(css)) this.error('app.css contains "</style" and cannot be inlined');
        const files = { 'index.html': index(), 'report.html': report(js, css) };
        for (const [fileName, source] of Object.entries(files)) this.emitFile({ type: 'asset', fileName, source });
        const size = [js, css, ...Object.values(files)].reduce((sum, text) => sum + gzipSync(text).length, 0);
        if (size > BUDGET_BYTES) this.error(`the bundle is ${size} bytes after gzip; the budget is ${BUDGET_BYTES}`);
        this.info(`${size} bytes after gzip, budget ${BUDGET_BYTES}`);
      },
    },
  };
}
