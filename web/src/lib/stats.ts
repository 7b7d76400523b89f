/** The 95 % Wilson interval of a share. */
export function wilson(good: number, total: number): [number, number] | null {
  if (total <= 0) return null;
  const z = 1.959964;
  const p = good / total;
  const centre = p + (z * z) / (2 * total);
  const half = z * Math.sqrt((p * (1 - p)) / total + (z * z) / (4 * total * total));
  const scale = 1 + (z * z) / total;
  // Rounding must not turn "all" into "almost all".
  return [good <= 0 ? 0 : (centre - half) / scale, good >= total ? 1 : (centre + half) / scale];
}

/** Consecutive ISO weeks from the first to the last named, so that gaps show as gaps. */
export function weekRange(weeks: string[]): string[] {
  const known = weeks.filter((week) => /^\d{4}-W\d{2}$/.test(week)).sort();
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last) return [];
  const range: string[] = [];
  const MAX_WEEKS = 520;
  for (let time = mondayOf(first); range.length < MAX_WEEKS; time += 7 * 86_400_000) {
    const week = weekOf(time);
    range.push(week);
    if (week >= last) break;
  }
  return range;
}

function mondayOf(week: string): number {
  const year = Number(week.slice(0, 4));
  const fourth = Date.UTC(year, 0, 4);
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * 86_400_000;
  return monday + (Number(week.slice(6)) - 1) * 7 * 86_400_000;
}

function weekOf(monday: number): string {
  const thursday = new Date(monday + 3 * 86_400_000);
  const year = thursday.getUTCFullYear();
  const number = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * 86_400_000)) + 1;
  return `${year}-W${String(number).padStart(2, '0')}`;
}

/** The first day of a week, for labels. */
export function weekLabel(week: string): string {
  const time = mondayOf(week);
  if (!Number.isFinite(time)) return week;
  return new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}
