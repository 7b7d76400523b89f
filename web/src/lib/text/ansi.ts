// Splits terminal output into runs of one look. Colours become classes; every other escape is dropped.
import { ESCAPE, visible } from './visible';

export interface Run {
  text: string;
  look: string;
}

interface Look {
  colour: string;
  bold: boolean;
  dim: boolean;
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

function apply(look: Look, codes: number[]): void {
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) Object.assign(look, { colour: '', bold: false, dim: false });
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 22) look.bold = look.dim = false;
    else if (code >= 30 && code <= 37) look.colour = COLOURS[code - 30] ?? '';
    else if (code >= 90 && code <= 97) look.colour = COLOURS[code - 90] ?? '';
    else if (code === 39) look.colour = '';
    // 256 colours and true colour carry arguments that are not codes.
    else if (code === 38 || code === 48) i += codes[i + 1] === 5 ? 2 : 4;
  }
}

const nameOf = ({ colour, bold, dim }: Look): string =>
  [colour && `ansi-${colour}`, bold && 'ansi-bold', dim && 'ansi-dim'].filter(Boolean).join(' ');

export function runs(text: string): Run[] {
  const look: Look = { colour: '', bold: false, dim: false };
  const found: Run[] = [];
  let from = 0;
  const push = (part: string) => {
    if (!part) return;
    const name = nameOf(look);
    const last = found.at(-1);
    // A carriage return overwrites its line in a terminal; here both stay readable.
    const clean = visible(part.replace(/\r\n?/g, '\n'));
    if (last?.look === name) last.text += clean;
    else found.push({ text: clean, look: name });
  };
  for (const match of text.matchAll(ESCAPE)) {
    push(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[0].startsWith('\u001b[') && match[0].endsWith('m')) {
      apply(look, match[0].slice(2, -1).split(/[;:]/).map(Number));
    }
  }
  push(text.slice(from));
  return found;
}
