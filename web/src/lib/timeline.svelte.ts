// The rows of a session: the main conversation with unfolded sub-agents between its entries.
import { EntryList } from './entries.svelte';
import type { CallTick, Entry, SessionDetail, SubAgent } from './api/types';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';

export interface Row {
  list: EntryList;
  n: number;
  depth: number;
}

interface Segment {
  list: EntryList;
  from: number;
  to: number;
  depth: number;
}

interface Position {
  agent: string | null;
  n: number;
}

export class Timeline {
  readonly main: EntryList;
  readonly unfolded = new SvelteSet<string>();
  readonly #lists = new SvelteMap<string, EntryList>();
  #ticks = $state.raw<Map<number, CallTick>>(new Map());
  #agents = $state.raw<Map<string, SubAgent>>(new Map());

  readonly #segments = $derived.by(() => this.#segmentsOf(null, 0));
  readonly count = $derived(this.#segments.reduce((sum, { from, to }) => sum + to - from + 1, 0));

  constructor(readonly session: string) {
    this.main = new EntryList(session, null);
  }

  describe(detail: SessionDetail): void {
    this.#ticks = new Map(detail.strip.map((tick) => [tick.n, tick]));
    this.#agents = new Map(detail.agents_list.map((agent) => [agent.id, agent]));
  }

  /** Changes whenever rows move. */
  get shape(): unknown {
    return this.#segments;
  }

  #list(agent: string | null): EntryList | undefined {
    return agent === null ? this.main : this.#lists.get(agent);
  }

  /** Where a sub-agent was started. */
  #startOf(agent: string): Position | null {
    const call = this.#agents.get(agent)?.parent_call;
    const tick = call === null || call === undefined ? undefined : this.#ticks.get(call);
    if (tick?.entry) return { agent: tick.agent, n: tick.entry };
    for (const list of [this.main, ...this.#lists.values()]) {
      for (const entry of list.loaded()) {
        if (entry.type === 'call' && entry.sub_agent?.id === agent) return { agent: list.agent, n: entry.n };
      }
    }
    return null;
  }

  #segmentsOf(agent: string | null, depth: number): Segment[] {
    const list = this.#list(agent);
    if (!list) return [];
    const inside = [...this.unfolded]
      .map((id) => ({ id, at: this.#startOf(id) }))
      .filter(({ at, id }) => at !== null && at.agent === agent && id !== agent && this.#lists.has(id))
      .sort((a, b) => (a.at?.n ?? 0) - (b.at?.n ?? 0));
    const segments: Segment[] = [];
    let from = 1;
    for (const { id, at } of inside) {
      const to = at?.n ?? from;
      if (to >= from) segments.push({ list, from, to, depth });
      // A trace may claim that agents start each other; the depth ends that.
      if (depth < 20) segments.push(...this.#segmentsOf(id, depth + 1));
      from = Math.max(from, to + 1);
    }
    if (from <= list.total) segments.push({ list, from, to: list.total, depth });
    return segments;
  }

  row(index: number): Row | null {
    let rest = index;
    for (const { list, from, to, depth } of this.#segments) {
      const length = to - from + 1;
      if (rest < length) return { list, n: from + rest, depth };
      rest -= length;
    }
    return null;
  }

  entry(index: number): Entry | undefined {
    const row = this.row(index);
    return row?.list.at(row.n);
  }

  key(index: number): string {
    const row = this.row(index);
    return row ? `${row.list.agent ?? ''}:${row.n}` : `none:${index}`;
  }

  indexOf(agent: string | null, n: number): number {
    let before = 0;
    for (const { list, from, to } of this.#segments) {
      if (list.agent === agent && n >= from && n <= to) return before + n - from;
      before += to - from + 1;
    }
    return -1;
  }

  /** Loads the rows in view. */
  ensure(first: number, last: number): void {
    let before = 0;
    for (const { list, from, to } of this.#segments) {
      const [start, end] = [Math.max(first, before), Math.min(last, before + to - from + 1)];
      if (start < end) void list.ensure(from + start - before, from + end - 1 - before);
      before += to - from + 1;
    }
  }

  async unfold(agent: string): Promise<void> {
    let list = this.#lists.get(agent);
    if (!list) {
      list = new EntryList(this.session, agent);
      await list.ensure(1, 1);
      this.#lists.set(agent, list);
    }
    this.unfolded.add(agent);
  }

  fold(agent: string): void {
    this.unfolded.delete(agent);
  }

  toggle(agent: string): void {
    if (this.unfolded.has(agent)) this.fold(agent);
    else void this.unfold(agent);
  }

  /** The row of a call; unfolds the sub-agents it is in. */
  async locate(call: number): Promise<number> {
    const tick = this.#ticks.get(call);
    if (!tick?.entry) return this.#search(call);
    const chain: string[] = [];
    for (let agent = tick.agent; agent !== null && !chain.includes(agent);) {
      chain.unshift(agent);
      agent = this.#startOf(agent)?.agent ?? null;
    }
    for (const agent of chain) await this.unfold(agent);
    if (this.main.total === 0) await this.main.ensure(1, 1);
    return this.indexOf(tick.agent, tick.entry);
  }

  /** Without a recorded position only what is loaded can be searched. */
  #search(call: number): number {
    for (let i = 0; i < this.count; i += 1) {
      const entry = this.entry(i);
      if (entry?.type === 'call' && entry.call === call) return i;
    }
    return -1;
  }
}
