// Turns the calls of a session into a few paths, so that 10,000 calls cost no more than 100.
import type { CallTick } from './api/types';

export const STRIP = { height: 34, dotY: 4, tickTop: 8, tickBottom: 26, bracketY: 31 } as const;

export type Tone = 'fail' | 'warn' | 'pass' | 'faint';

export interface StripShape {
  columns: number;
  ticks: Record<Tone, string>;
  findings: string;
  agents: string;
}

const TONE: Record<string, Tone> = { succeeded: 'pass', failed: 'fail', denied: 'warn', interrupted: 'warn' };
const toneOf = (status: string): Tone => TONE[status] ?? 'faint';
const RANK: Record<Tone, number> = { fail: 3, warn: 2, faint: 1, pass: 0 };

/** One column per call, or per group of calls where there are more calls than pixels; the worst call of a group shows. */
export function stripShape(calls: CallTick[], pixels: number): StripShape {
  const columns = Math.max(1, Math.min(calls.length, Math.floor(pixels / 2) || 1));
  const worst = new Array<Tone | undefined>(columns);
  const found = new Array<boolean>(columns).fill(false);
  const inAgent = new Array<boolean>(columns).fill(false);
  calls.forEach((call, i) => {
    const column = Math.floor((i * columns) / calls.length);
    const tone = toneOf(call.status);
    const before = worst[column];
    if (before === undefined || RANK[tone] > RANK[before]) worst[column] = tone;
    if (call.finding) found[column] = true;
    if (call.agent !== null) inAgent[column] = true;
  });
  const ticks: Record<Tone, string> = { fail: '', warn: '', pass: '', faint: '' };
  let [findings, agents] = ['', ''];
  worst.forEach((tone, i) => {
    // Failures are taller: they show without colour too.
    const top = tone === 'fail' || tone === 'warn' ? STRIP.tickTop : STRIP.tickTop + 5;
    if (tone) ticks[tone] += `M${i + 0.5} ${top}V${STRIP.tickBottom}`;
    if (found[i]) findings += `M${i + 0.5} ${STRIP.dotY}h.01`;
    if (inAgent[i]) agents += `M${i} ${STRIP.bracketY}h1`;
  });
  return { columns, ticks, findings, agents };
}

/** The first call after `from` in a direction that matches; null at the end. */
export function nextCall(calls: CallTick[], from: number | null, by: 1 | -1, test: (call: CallTick) => boolean): number | null {
  const at = from === null ? -1 : calls.findIndex(({ n }) => n === from);
  const start = at < 0 ? (by > 0 ? 0 : calls.length - 1) : at + by;
  for (let i = start; i >= 0 && i < calls.length; i += by) {
    const call = calls[i];
    if (call && test(call)) return call.n;
  }
  return null;
}
