// Readings of an issue that several pages share.
import { ago, duration, int, NOT_RECORDED, percent, plural } from './format';
import type { Issue, Place, Recovery, Representative } from './api/types';
import { weekRange } from './stats';

export function projectsOf(issue: Issue): { name: string; count: number | null }[] {
  return issue.projects.map((p) => (typeof p === 'string' ? { name: p, count: null } : p));
}

export function decided(recovery: Recovery): number {
  return recovery.decided ?? recovery.recovered + (recovery.partial ?? 0) + (recovery.failed ?? 0);
}

export function recoveryText(issue: Issue): string {
  if (!issue.recovery || issue.recovery.rate === null) return '';
  return `recovered ${percent(issue.recovery.rate)} of ${int(decided(issue.recovery))}`;
}

/** The weeks from the first to the last, with zeros where nothing happened. */
export function weeklyCounts(issue: Issue): number[] {
  const counts = new Map(issue.weeks.map(({ week, count }) => [week, count]));
  return weekRange([...counts.keys()]).map((week) => counts.get(week) ?? 0);
}

export function sessionsText(issue: Issue, of: number | null): string {
  return of === null
    ? `in ${plural(issue.sessions, 'session')}`
    : `in ${int(issue.sessions)} of ${plural(of, 'session')}`;
}

export function whereText(issue: Issue): string {
  const parts = [issue.tools[0]?.name, issue.agents[0]?.name, `last ${ago(issue.last_seen)}`];
  return parts.filter(Boolean).join(' · ');
}

export function lostText(issue: Issue): string {
  const { tokens } = issue.lost;
  const ms = issue.lost.duration_ms ?? issue.lost.ms ?? null;
  return `${tokens === null ? NOT_RECORDED : int(tokens)} tokens, ${duration(ms)}`;
}

export function placeText(place: Place | string | null | undefined): string {
  if (!place) return '';
  if (typeof place === 'string') return place;
  return `${place.file ?? place.path ?? ''}:${place.line}`;
}

export function callNumber(one: Representative): number | null {
  return one.number ?? (typeof one.call === 'number' ? one.call : null);
}

export function notesOf(issue: Issue): string[] {
  return issue.notes.map((note) => (typeof note === 'string' ? note : note.text));
}
