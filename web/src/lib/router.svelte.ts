// The address of the page: history API when served, fragment in a report opened from a file.
import { tick } from 'svelte';

export type PageName =
  | 'feed'
  | 'issue'
  | 'sessions'
  | 'session'
  | 'tools'
  | 'runs'
  | 'run'
  | 'compare'
  | 'guard'
  | 'check'
  | 'grade'
  | 'help'
  | 'missing';

const WITH_ID: ReadonlySet<string> = new Set(['issue', 'session', 'run']);
const WITHOUT_ID: ReadonlySet<string> = new Set([
  'feed',
  'sessions',
  'tools',
  'runs',
  'compare',
  'guard',
  'help',
  'check',
  'grade',
]);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parsePath(path: string): { page: PageName; id: string } {
  const [first = '', ...rest] = path.replace(/^\/+|\/+$/g, '').split('/');
  if (first === '') return { page: 'feed', id: '' };
  if (WITH_ID.has(first) && rest.length > 0) return { page: first as PageName, id: decode(rest.join('/')) };
  if (WITHOUT_ID.has(first) && rest.length === 0) return { page: first as PageName, id: '' };
  return { page: 'missing', id: '' };
}

export type Changes = Record<string, string | number | null | undefined>;

export function withChanges(query: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') next.delete(key);
    else next.set(key, String(value));
  }
  return next;
}

class Router {
  path = $state('/');
  query = $state.raw(new URLSearchParams());
  #fragment = false;
  /** How many entries of this page are behind us: whether "back" stays here. */
  #depth = 0;

  readonly #parsed = $derived(parsePath(this.path));
  get page(): PageName {
    return this.#parsed.page;
  }
  get id(): string {
    return this.#parsed.id;
  }

  start(fragment: boolean, first: string | null = null): void {
    this.#fragment = fragment;
    const read = () => this.#read();
    addEventListener('popstate', read);
    addEventListener('hashchange', read);
    this.#depth = Number((history.state as { depth?: number } | null)?.depth ?? 0);
    if (first && fragment && location.hash === '') this.go(first, { replace: true, focus: false });
    else read();
    if (this.path === '/') this.go(`/feed${location.search}`, { replace: true, focus: false });
  }

  #read(): void {
    const address = this.#fragment ? location.hash.replace(/^#/, '') || '/' : location.pathname + location.search;
    this.#depth = Number((history.state as { depth?: number } | null)?.depth ?? 0);
    this.#set(address);
  }

  #set(address: string): void {
    const [path = '/', search = ''] = address.split('?', 2);
    if (this.path !== path) this.path = path;
    if (this.query.toString() !== search) this.query = new URLSearchParams(search);
  }

  href(path: string, query: Changes = {}): string {
    const search = withChanges(new URLSearchParams(), query).toString();
    const address = path + (search && `?${search}`);
    return this.#fragment ? `#${address}` : address;
  }

  go(address: string, { replace = false, focus = true } = {}): void {
    const plain = address.replace(/^#/, '');
    const samePath = plain.split('?', 1)[0] === this.path;
    const url = this.#fragment ? `#${plain}` : plain;
    if (replace) history.replaceState({ depth: this.#depth }, '', url);
    else history.pushState({ depth: ++this.#depth }, '', url);
    this.#set(plain);
    // A new page starts at its main region, as a full page load would.
    if (focus && !samePath) void tick().then(() => document.getElementById('main')?.focus({ preventScroll: true }));
  }

  /** Changes parts of the query and keeps the rest. */
  set(changes: Changes, { replace = true } = {}): void {
    const search = withChanges(this.query, changes).toString();
    this.go(this.path + (search && `?${search}`), { replace, focus: false });
  }

  back(fallback: string): void {
    if (this.#depth > 0) history.back();
    else this.go(fallback, { replace: true });
  }

  get address(): string {
    return location.href;
  }

  /** Handles clicks on links of this page; others, and clicks for a new tab, are the browser's. */
  click(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element | null)?.closest?.('a[href]');
    const href = link?.getAttribute('href');
    if (!href || link?.hasAttribute('download')) return;
    if (this.#fragment ? !href.startsWith('#/') : !href.startsWith('/')) return;
    event.preventDefault();
    this.go(href);
  }
}

export const router = new Router();

/** Addresses of the pages, in one place. */
export const to = {
  feed: (query: Changes = {}) => router.href('/feed', query),
  issue: (id: string) => router.href(`/issue/${encodeURIComponent(id)}`),
  sessions: (query: Changes = {}) => router.href('/sessions', query),
  session: (id: string, query: Changes = {}) => router.href(`/session/${encodeURIComponent(id)}`, query),
  run: (id: string) => router.href(`/run/${encodeURIComponent(id)}`),
  compare: (a: string, b: string) => router.href('/compare', { a, b }),
  page: (name: string) => router.href(`/${name}`),
};
