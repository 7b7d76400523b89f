// Reads a unified diff into lines with their numbers.
export interface DiffLine {
  kind: 'add' | 'remove' | 'same' | 'hunk';
  before: number | null;
  after: number | null;
  text: string;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function parseDiff(unified: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [before, after, inside] = [1, 1, false];
  for (const line of unified.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [before, after, inside] = [Number(hunk[1]), Number(hunk[2]), true];
      lines.push({ kind: 'hunk', before: null, after: null, text: line });
    } else if (!inside && /^(---|\+\+\+|diff |index |new file|deleted file)/.test(line)) {
      continue;
    } else if (line.startsWith('+')) lines.push({ kind: 'add', before: null, after: after++, text: line.slice(1) });
    else if (line.startsWith('-')) lines.push({ kind: 'remove', before: before++, after: null, text: line.slice(1) });
    else if (line.startsWith('\\')) lines.push({ kind: 'hunk', before: null, after: null, text: line.slice(2) });
    else lines.push({ kind: 'same', before: before++, after: after++, text: line.replace(/^ /, '') });
  }
  return lines;
}

export function counts(lines: DiffLine[]): { added: number; removed: number } {
  const of = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  return { added: of('add'), removed: of('remove') };
}
