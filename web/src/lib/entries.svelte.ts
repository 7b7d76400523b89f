// The entries of one agent's conversation, loaded in pages as they come into view.
import { get, segment } from './api/client';
import { asApiError, type ApiError } from './api/error';
import type { Entry, TimelinePage } from './api/types';

const PAGE_SIZE = 200;

export class EntryList {
  total = $state(0);
  /** Grows when a page arrives. */
  version = $state(0);
  error = $state.raw<ApiError | null>(null);
  readonly #entries = new Map<number, Entry>();
  readonly #pages = new Map<number, Promise<void>>();

  constructor(
    readonly session: string,
    readonly agent: string | null,
  ) {}

  /** The entry with this number, from 1, if it is loaded. */
  at(n: number): Entry | undefined {
    void this.version;
    return this.#entries.get(n);
  }

  loaded(): IterableIterator<Entry> {
    void this.version;
    return this.#entries.values();
  }

  /** Loads what is missing between two numbers. */
  async ensure(first: number, last: number): Promise<void> {
    const pages: Promise<void>[] = [];
    for (let page = Math.floor((first - 1) / PAGE_SIZE); page * PAGE_SIZE < Math.max(last, 1); page += 1) {
      let loading = this.#pages.get(page);
      if (!loading) {
        loading = this.#load(page);
        this.#pages.set(page, loading);
      }
      pages.push(loading);
    }
    await Promise.all(pages);
  }

  async #load(page: number): Promise<void> {
    try {
      const from = page * PAGE_SIZE + 1;
      const path = `/sessions/${segment(this.session)}/timeline`;
      const answer = await get<TimelinePage>(path, { from, limit: PAGE_SIZE, agent: this.agent });
      answer.items.forEach((entry, i) => this.#entries.set(entry.n ?? from + i, entry));
      this.total = answer.total;
      this.error = null;
    } catch (problem) {
      this.#pages.delete(page);
      this.error = asApiError(problem);
    }
    this.version += 1;
  }

  /** Asks again for the last page, which may have grown, and for the length. */
  async refresh(): Promise<void> {
    this.#pages.delete(Math.floor(Math.max(0, this.total - 1) / PAGE_SIZE));
    await this.ensure(Math.max(1, this.total), Math.max(1, this.total));
  }
}
