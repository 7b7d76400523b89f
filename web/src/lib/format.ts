// How numbers, times and counts are written. Null is written as an en dash: not recorded.
export const NOT_RECORDED = '–';

const whole = new Intl.NumberFormat('en-US');

export const int = (n: number | null | undefined): string =>
  n === null || n === undefined ? NOT_RECORDED : whole.format(n);

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${whole.format(n)} ${n === 1 ? one : many}`;
}

/** 1234 → 1.2k: for columns, with the exact number in a title. */
export function compact(n: number | null | undefined): string {
  if (n === null || n === undefined) return NOT_RECORDED;
  for (const [size, unit] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (n >= size) return `${trim((n / size).toFixed(n / size < 10 ? 1 : 0))}${unit}`;
  }
  return whole.format(n);
}

const trim = (text: string): string => text.replace(/\.0+$/, '');

export function percent(rate: number | null | undefined): string {
  if (rate === null || rate === undefined) return NOT_RECORDED;
  const value = rate * 100;
  // Never round a few failures to 0 % or to 100 %.
  if (value > 0 && value < 1) return '< 1 %';
  if (value < 100 && value > 99) return '> 99 %';
  return `${Math.round(value)} %`;
}

export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOT_RECORDED;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(seconds / 3_600)}h ${String(Math.floor((seconds % 3_600) / 60)).padStart(2, '0')}m`;
}

export function dollars(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return NOT_RECORDED;
  if (usd === 0) return '$0';
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function signed(n: number, write: (n: number) => string): string {
  if (n === 0) return '±0';
  return n > 0 ? `+${write(n)}` : `−${write(-n)}`;
}

const UNITS: [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];

/** Longer ago than this, a date says more than a number of days. */
const MAX_DAYS = 60;

export function ago(time: string | null | undefined, now = Date.now()): string {
  if (!time) return NOT_RECORDED;
  const passed = now - Date.parse(time);
  if (Number.isNaN(passed)) return time;
  if (passed > MAX_DAYS * 86_400_000) return exact(time).slice(0, 10);
  for (const [size, unit] of UNITS) if (passed >= size) return `${Math.floor(passed / size)} ${unit} ago`;
  return passed < -60_000 ? exact(time) : 'just now';
}

/** Local time to the second, as in a log. */
export function exact(time: string | null | undefined): string {
  if (!time) return NOT_RECORDED;
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Time since the start of a session: 0:04, 1:02:03. */
export function since(time: string | null | undefined, start: string | null | undefined): string {
  if (!time || !start) return '';
  const seconds = Math.round((Date.parse(time) - Date.parse(start)) / 1_000);
  if (!Number.isFinite(seconds) || seconds < 0) return '';
  const two = (n: number) => String(n).padStart(2, '0');
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function bytes(n: number): string {
  if (n < 1_024) return `${n} B`;
  return n < 1_048_576 ? `${(n / 1_024).toFixed(1)} KiB` : `${(n / 1_048_576).toFixed(1)} MiB`;
}

/** A project is known by its folder; the whole path belongs into a title. */
export function projectName(project: string | null | undefined): string {
  const parts = (project ?? '').split(/[\\/]+/).filter(Boolean);
  return parts.at(-1) ?? project ?? '';
}

/** Projects as options of a filter: those with the same name show their paths. */
export function projectOptions(projects: string[]): { value: string; label: string }[] {
  const names = projects.map(projectName);
  const twice = (name: string) => names.indexOf(name) !== names.lastIndexOf(name);
  return projects.map((value, i) => ({
    value,
    label: twice(names[i] ?? '') ? shortPath(value, 3) : (names[i] ?? value),
  }));
}

/** The end of a path says more than its start. */
export function shortPath(path: string, parts = 2): string {
  const all = path.split('/').filter(Boolean);
  return all.length <= parts ? path : `…/${all.slice(-parts).join('/')}`;
}
