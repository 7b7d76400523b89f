// What changed on the server since the page last loaded it. Nothing moves by itself: pages show a pill.
import { inlinedReport } from './client';
import { listenShared } from './shared';
import type { ChangeCounts } from './types';

export type Topic = keyof ChangeCounts;

class Live {
  connected = $state(false);
  /** Was the server reachable before? Tells "connecting" from "connection lost". */
  everConnected = $state(false);
  counts = $state<ChangeCounts>({ sessions: 0, issues: 0, runs: 0, guard: 0 });
  /** Grows with every event, for pages that look closer. */
  seq = $state(0);

  start(): void {
    if (inlinedReport()) return;
    const abort = new AbortController();
    addEventListener('pagehide', () => abort.abort(), { once: true });
    // A page that the browser kept and shows again goes on.
    addEventListener('pageshow', (event) => event.persisted && this.start(), { once: true });
    void listenShared(
      '/api/v1/events',
      abort.signal,
      ({ event, data }) => event === 'change' && this.#take(data),
      (connected) => {
        this.connected = connected;
        this.everConnected ||= connected;
      },
    );
  }

  #take(data: string): void {
    let change: Partial<ChangeCounts>;
    try {
      change = JSON.parse(data) as Partial<ChangeCounts>;
    } catch {
      return;
    }
    for (const topic of Object.keys(this.counts) as Topic[]) this.counts[topic] += change[topic] ?? 0;
    this.seq += 1;
  }

  clear(topic: Topic): void {
    this.counts[topic] = 0;
  }
}

export const live = new Live();
