import './styles/tokens.css';
import './styles/base.css';
import './styles/page.css';
import { inlinedReport, useInlined } from '$lib/api/client';
import { readInlined, type Inlined } from '$lib/api/inlined';
import { live } from '$lib/api/live.svelte';
import { takeToken } from '$lib/api/token';
import { router } from '$lib/router.svelte';
import { theme } from '$lib/theme.svelte';
import { mount } from 'svelte';
import App from './App.svelte';

/** The page that a report opens with. */
function firstPage({ page, data }: Inlined): string {
  const idAfter = (prefix: string) => {
    const ids = Object.keys(data).filter((key) => key.startsWith(prefix) && !key.slice(prefix.length).includes('/'));
    return ids.length === 1 ? ids[0]?.slice(prefix.length) : undefined;
  };
  const session = idAfter('/api/v1/sessions/');
  const run = idAfter('/api/v1/runs/');
  if (page === 'compare') return '/compare';
  if (page === 'grade') return run ? `/run/${run}` : '/runs';
  if (page === 'session' || page === 'check') return session ? `/session/${session}` : '/sessions';
  return '/feed';
}

async function start(): Promise<void> {
  theme.start();
  const inlined = await readInlined();
  if (inlined) useInlined(inlined);
  else takeToken();
  router.start(inlined !== null, inlined && firstPage(inlined));
  mount(App, { target: document.getElementById('app') ?? document.body });
  if (!inlinedReport()) live.start();
}

void start();
