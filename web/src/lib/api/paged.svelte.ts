// A list that loads in pages as the reader scrolls.
import { asApiError, type ApiError } from './error';
import { get, type Query } from './client';
import type { Page } from './types';

const PAGE_SIZE = 200;

export class PagedList<T, P extends Page<T> = Page<T>> {
  items = $state.raw<T[]>([]);
  total = $state<number | null>(null);
  first = $state.raw<P | null>(null);
  /** True from the start, so that no list looks empty before it was asked for. */
  loading = $state(true);
  error = $state.raw<ApiError | null>(null);
  #next: string | null = null;
  #request = 0;

  constructor(
    readonly path: string,
    readonly query: Query,
  ) {}

  /** Loads as many rows as are already there, so that the scroll position survives. */
  async reload(): Promise<void> {
    const request = ++this.#request;
    const want = Math.max(this.items.length, 1);
    this.loading = true;
    this.error = null;
    try {
      const items: T[] = [];
      let page: P | null = null;
      let cursor: string | null = null;
      do {
        page = await get<P>(this.path, { ...this.query, limit: PAGE_SIZE, cursor });
        if (request !== this.#request) return;
        items.push(...page.items);
        cursor = page.next;
      } while (cursor && items.length < want);
      this.first = page;
      this.#next = cursor;
      this.items = items;
      this.total = page.total;
    } catch (problem) {
      if (request === this.#request) this.error = asApiError(problem);
    } finally {
      if (request === this.#request) this.loading = false;
    }
  }

  async more(): Promise<void> {
    if (this.loading || !this.#next) return;
    const request = ++this.#request;
    this.loading = true;
    try {
      const page = await get<P>(this.path, { ...this.query, limit: PAGE_SIZE, cursor: this.#next });
      if (request !== this.#request) return;
      this.#next = page.next;
      this.items = [...this.items, ...page.items];
      this.total = page.total;
    } catch (problem) {
      if (request === this.#request) this.error = asApiError(problem);
    } finally {
      if (request === this.#request) this.loading = false;
    }
  }

  replace(index: number, item: T): void {
    this.items = this.items.with(index, item);
  }
}

// Going back shows the list as it was left.
const MAX_REMEMBERED = 12;
const remembered = new Map<string, PagedList<never>>();

export function remember<T, P extends Page<T> = Page<T>>(path: string, query: Query): PagedList<T, P> {
  const key = path + JSON.stringify(query);
  let list = remembered.get(key) as PagedList<T, P> | undefined;
  if (!list) {
    list = new PagedList<T, P>(path, query);
    remembered.set(key, list as never);
    const fresh = list;
    queueMicrotask(() => void fresh.reload());
  }
  const oldest = remembered.keys().next().value;
  if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  return list;
}
