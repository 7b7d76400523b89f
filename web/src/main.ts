import './styles/tokens.css';
import './styles/base.css';
import './styles/page.css';
import './styles/static.css';
import { inlinedReport, useInlined } from '$lib/api/client';
import { readInlined } from '$lib/api/inlined';
import { live } from '$lib/api/live.svelte';
import { takeToken } from '$lib/api/token';
import { router } from '$lib/router.svelte';
import { theme } from '$lib/theme.svelte';
import { mount } from 'svelte';
import App from './App.svelte';

async function start(): Promise<void> {
  theme.start();
  const inlined = await readInlined();
  if (inlined) useInlined(inlined);
  else takeToken();
  router.start(inlined !== null, inlined && `/${inlined.page}`);
  mount(App, { target: document.getElementById('app') ?? document.body });
  // The tables of a report are for paper and for browsers without scripts.
  document.documentElement.dataset['live'] = '';
  if (!inlinedReport()) live.start();
}

void start();
