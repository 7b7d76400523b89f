// Text of traces is shown as text. Characters that are invisible or change the direction are made visible.

// Bidirectional controls, zero-width characters, tags and the byte order mark: they can hide or reorder text.
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

const code = (c: string): string => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** C0 controls have pictures of their own: ␛ for escape. */
function picture(c: string): string {
  const point = c.charCodeAt(0);
  if (point < 0x20) return String.fromCharCode(0x2400 + point);
  return point === 0x7f ? '␡' : code(c);
}

export function visible(text: string): string {
  return text.replace(CONTROL, picture).replace(INVISIBLE, code);
}

/** One line for rows: white space collapsed, cut at a bound so that a row never costs more. */
export function oneLine(text: string | null | undefined, max = 400): string {
  if (!text) return '';
  const cut = text.length > max * 2 ? text.slice(0, max * 2) : text;
  const line = visible(stripAnsi(cut).replace(/\s+/g, ' ').trim());
  return line.length > max ? `${line.slice(0, max)}…` : line;
}

export const ESCAPE =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[P^_X][^\u001b]*(?:\u001b\\|$)|[ -/]*[0-~])/g;

export const stripAnsi = (text: string): string => text.replace(ESCAPE, '');
