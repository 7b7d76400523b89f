// Answers requests from the data of a single-file report, so that the same page works from file://.
import { ApiError } from './error';

export interface Inlined {
  page: 'feed' | 'check' | 'grade' | 'compare';
  /** Who made the report, and when. */
  about?: string;
  /** What the reader should know besides. */
  notes?: string[];
  data: Record<string, unknown>;
}

type Row = Record<string, unknown>;
type RowTest = (row: Row, value: string) => boolean;

const ELEMENT = 'toolmark-data';
const DEFAULT_LIMIT = 200;

async function gunzip(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

export async function readInlined(): Promise<Inlined | null> {
  const element = document.getElementById(ELEMENT);
  if (!element) return null;
  const text = element.textContent ?? '';
  const json = element.dataset['encoding'] === 'gzip-base64' ? await gunzip(text) : text;
  return JSON.parse(json) as Inlined;
}

const names = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((v) => (typeof v === 'string' ? v : String((v as Row)['name'] ?? ''))) : [];

const contains = (row: Row, q: string) => JSON.stringify(row).toLowerCase().includes(q.toLowerCase());

const isOpen = (row: Row) => row['state'] !== 'resolved' && row['state'] !== 'ignored';

const UNIT_MS: Record<string, number> = { h: 3_600_000, d: 86_400_000 };

/** "7d" or a time; what has no time is not left out silently but kept. */
function notBefore(time: unknown, since: string): boolean {
  const span = /^(\d+)([hd])$/.exec(since);
  const from = span ? Date.now() - Number(span[1]) * (UNIT_MS[span[2] ?? ''] ?? 0) : Date.parse(since);
  return typeof time !== 'string' || Number.isNaN(from) || Date.parse(time) >= from;
}

const ISSUE_TESTS: Record<string, RowTest> = {
  state: (row, v) => (v === 'open' ? isOpen(row) : row['state'] === v),
  kind: (row, v) => row['kind'] === v,
  since: (row, v) => notBefore(row['last_seen'], v),
  project: (row, v) => names(row['projects']).includes(v),
  agent: (row, v) => names(row['agents']).some((name) => name.startsWith(v)),
  q: contains,
};

const SESSION_TESTS: Record<string, RowTest> = {
  project: (row, v) => row['project'] === v,
  agent: (row, v) => row['agent'] === v,
  model: (row, v) => row['model'] === v,
  version: (row, v) => row['version'] === v,
  verdict: (row, v) => verdictOf(row) === v,
  since: (row, v) => notBefore(row['started'], v),
  live: (row) => row['live'] === true,
  q: contains,
};

function verdictOf(row: Row): string {
  const findings = row['findings'] as { error: number; warning: number } | undefined;
  if (row['calls'] === null || !findings) return 'unknown';
  if (findings.error > 0) return 'fail';
  return findings.warning > 0 ? 'warn' : 'ok';
}

const TESTS: Record<string, Record<string, RowTest>> = {
  '/api/v1/issues': ISSUE_TESTS,
  '/api/v1/sessions': SESSION_TESTS,
};

const SORT_FIELDS: Record<string, string> = { cost: 'cost_usd', duration: 'duration_ms' };

function sorted(items: Row[], by: string | null): Row[] {
  if (!by) return items;
  const field = SORT_FIELDS[by] ?? by;
  const value = (row: Row) => row[field];
  return [...items].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === y) return 0;
    // What is not recorded comes last.
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    return x < y ? 1 : -1;
  });
}

function page(path: string, stored: { items: Row[] }, query: URLSearchParams) {
  const tests = TESTS[path] ?? {};
  let items = stored.items;
  for (const [name, test] of Object.entries(tests)) {
    const value = query.get(name);
    if (value) items = items.filter((row) => test(row, value));
  }
  items = sorted(items, query.get('sort'));
  const start = Number(query.get('cursor') ?? 0);
  const end = start + Number(query.get('limit') ?? DEFAULT_LIMIT);
  const next = end < items.length ? String(end) : null;
  return { ...stored, items: items.slice(start, end), total: items.length, next };
}

/** What a report does not have of its own but in its lists. */
function derived({ data }: Inlined, path: string): unknown {
  const items = (of: string): Row[] => (data[`/api/v1/${of}`] as { items: Row[] } | undefined)?.items ?? [];
  const [, , , list, id, part] = path.split('/').map(decodeURIComponent);
  if (list === 'issues' && id && !part) return items('issues').find((row) => row['id'] === id);
  if (list === 'issues' && part === 'occurrences' && '/api/v1/occurrences' in data) {
    return { items: items('occurrences').filter((row) => row['issue'] === id) };
  }
  const count = (names: string[]) => {
    const counts = new Map<string, number>();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].sort(([, a], [, b]) => b - a);
  };
  if (list === 'projects') {
    const all = [
      ...items('issues').flatMap((row) => names(row['projects'])),
      ...items('sessions').flatMap((row) => names([row['project'] ?? ''])),
    ];
    return { items: count(all.filter(Boolean)).map(([project, sessions]) => ({ project, sessions })) };
  }
  if (list === 'agents') {
    const rows = items('sessions').filter((row) => row['agent']);
    const models = (agent: string) =>
      rows.filter((row) => row['agent'] === agent).flatMap((row) => names([row['model'] ?? '']));
    const all =
      rows.length > 0
        ? rows.map((row) => String(row['agent']))
        : items('issues').flatMap((row) => names(row['agents']));
    return {
      items: count(all).map(([agent, sessions]) => ({
        agent,
        versions: [],
        models: [...new Set(models(agent).filter(Boolean))],
        sessions,
      })),
    };
  }
  return undefined;
}

export function answer(inlined: Inlined, path: string, query: URLSearchParams): unknown {
  const stored = inlined.data[path] ?? derived(inlined, path);
  if (stored === undefined) {
    throw new ApiError(404, 'not_in_report', 'This report does not contain that.', 'Open it with toolmark serve.');
  }
  const items = (stored as { items?: Row[] } | null)?.items;
  return Array.isArray(items) ? page(path, { ...(stored as Row), items }, query) : stored;
}
