import { svelte } from '@sveltejs/vite-plugin-svelte';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { pages } from './build/pages.js';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

// One script and one style sheet with stable names: the binary embeds them, and a report inlines them.
export default defineConfig({
  plugins: [svelte(), pages()],
  resolve: { alias: { $lib: at('./src/lib'), $components: at('./src/components') } },
  server: { proxy: { '/api': process.env.TOOLMARK_URL ?? 'http://127.0.0.1:4319' } },
  build: {
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: at('./src/main.ts'),
      output: { format: 'iife', entryFileNames: 'app.js', assetFileNames: 'app[extname]' },
    },
  },
});
