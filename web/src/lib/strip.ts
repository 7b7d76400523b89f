// Turns the calls of a session into a few paths, so that 10,000 calls cost no more than 100.
import type { CallTick } from './api/types';

export const STRIP = { height: 34, dotBottom: 6, tickTop: 9, tickBottom: 27, bracketY: 31 } as const;

export type Tone = 'fail' | 'warn' | 'pass' | 'faint';

export interface StripShape {
  columns: number;
  ticks: Record<Tone, string>;
  findings: string;
  agents: string;
}

const TONE: Record<string, Tone> = { succeeded: 'pass', failed: 'fail', denied: 'warn', interrupted: 'warn' };
const toneOf = (status: string): Tone => TONE[status] ?? 'faint';
/** From the bottom up. */
const STACK: Tone[] = ['fail', 'warn', 'faint', 'pass'];

interface Column {
  calls: number;
  tones: Record<Tone, number>;
  findings: number;
  agent: boolean;
}

function group(calls: CallTick[], columns: number): Column[] {
  const found = Array.from({ length: columns }, (): Column => ({
    calls: 0,
    tones: { fail: 0, warn: 0, faint: 0, pass: 0 },
    findings: 0,
    agent: false,
  }));
  calls.forEach((call, i) => {
    const column = found[Math.floor((i * columns) / calls.length)];
    if (!column) return;
    column.calls += 1;
    column.tones[toneOf(call.status)] += 1;
    if (call.finding) column.findings += 1;
    if (call.agent !== null) column.agent = true;
  });
  return found;
}

// One failure among many calls must still show.
const MIN_PART = 3;

/** One column per call, or per group of calls where there are more calls than pixels: then a part of it is as tall as its share. */
export function stripShape(calls: CallTick[], pixels: number): StripShape {
  const columns = Math.max(1, Math.min(calls.length, Math.floor(pixels / 2) || 1));
  const ticks: Record<Tone, string> = { fail: '', warn: '', pass: '', faint: '' };
  let [findings, agents] = ['', ''];
  const most = STRIP.tickBottom - STRIP.tickTop;
  group(calls, columns).forEach((column, i) => {
    let bottom: number = STRIP.tickBottom;
    for (const tone of STACK) {
      const count = column.tones[tone];
      if (count === 0) continue;
      const rest = bottom - STRIP.tickTop;
      const tall = tone === 'pass' ? rest : Math.min(rest, Math.max(MIN_PART, (count / column.calls) * most));
      // A call that succeeded is shorter: a failure stands out without colour, too.
      const top = tone === 'pass' ? Math.min(bottom, STRIP.tickTop + 4) : bottom - tall;
      if (top < bottom) ticks[tone] += `M${i + 0.5} ${bottom}V${top}`;
      bottom -= tall;
    }
    if (column.findings > 0)
      findings += `M${i + 0.5} ${STRIP.dotBottom}v-${1.5 + Math.min(1, (3 * column.findings) / column.calls) * 2.5}`;
    if (column.agent) agents += `M${i} ${STRIP.bracketY}h1`;
  });
  return { columns, ticks, findings, agents };
}

/** The first call after `from` in a direction that matches; null at the end. */
export function nextCall(
  calls: CallTick[],
  from: number | null,
  by: 1 | -1,
  test: (call: CallTick) => boolean,
): number | null {
  const at = from === null ? -1 : calls.findIndex(({ n }) => n === from);
  const start = at < 0 ? (by > 0 ? 0 : calls.length - 1) : at + by;
  for (let i = start; i >= 0 && i < calls.length; i += by) {
    const call = calls[i];
    if (call && test(call)) return call.n;
  }
  return null;
}
