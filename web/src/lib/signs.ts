// A verdict is never told by colour alone: each has a sign and a word.
import type { CallStatus, IssueState, Severity, Verdict } from './api/types';

export interface Sign {
  sign: string;
  tone: '' | 'fail' | 'warn' | 'pass' | 'faint';
  word: string;
}

export const STATUS: Record<CallStatus, Sign> = {
  succeeded: { sign: '✓', tone: 'pass', word: 'succeeded' },
  failed: { sign: '✗', tone: 'fail', word: 'failed' },
  denied: { sign: '⊘', tone: 'warn', word: 'denied' },
  interrupted: { sign: '!', tone: 'warn', word: 'interrupted' },
  unanswered: { sign: '…', tone: 'faint', word: 'no result recorded' },
  unknown: { sign: '?', tone: 'faint', word: 'unknown' },
};

export const SEVERITY: Record<Severity, Sign> = {
  error: { sign: '✗', tone: 'fail', word: 'error' },
  warning: { sign: '!', tone: 'warn', word: 'warning' },
  note: { sign: 'i', tone: 'faint', word: 'note' },
};

export const VERDICT: Record<Verdict, Sign> = {
  pass: { sign: '✓', tone: 'pass', word: 'pass' },
  fail: { sign: '✗', tone: 'fail', word: 'fail' },
  unknown: { sign: '?', tone: 'faint', word: 'unknown' },
};

export const DECISION: Record<string, Sign> = {
  allow: { sign: '✓', tone: 'pass', word: 'allow' },
  ask: { sign: '!', tone: 'warn', word: 'ask' },
  deny: { sign: '✗', tone: 'fail', word: 'deny' },
};

export const STATE: Record<IssueState, Sign> = {
  regressed: { sign: '↩', tone: 'fail', word: 'regressed' },
  escalating: { sign: '↑', tone: 'fail', word: 'escalating' },
  new: { sign: '+', tone: 'warn', word: 'new' },
  ongoing: { sign: '·', tone: '', word: 'ongoing' },
  resolved: { sign: '✓', tone: 'pass', word: 'resolved' },
  ignored: { sign: '·', tone: 'faint', word: 'ignored' },
};

const UNKNOWN: Sign = { sign: '?', tone: 'faint', word: 'unknown' };

/** A word of a newer server has no sign here; it is shown as it is. */
export function signOf(table: Record<string, Sign>, word: string | null | undefined): Sign {
  if (!word) return UNKNOWN;
  return table[word] ?? { ...UNKNOWN, word };
}
