import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default ts.config(
  { ignores: ['dist/', 'out/', 'node_modules/'] },
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  // TypeScript and svelte-check know what is defined.
  { files: ['**/*.ts', '**/*.svelte'], rules: { 'no-undef': 'off' } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
    rules: {
      // A reason follows the code on the same line, and each of its words is taken for a code.
      'svelte/no-unused-svelte-ignore': 'off',
      // Maps that are filled once, or within one computation, need not be reactive.
      'svelte/prefer-svelte-reactivity': 'off',
      // Spaces at the end of a line are written as {' '}.
      'svelte/no-useless-mustaches': 'off',
    },
  },
  // Control characters are what these look for.
  { files: ['src/lib/text/**'], rules: { 'no-control-regex': 'off' } },
);
