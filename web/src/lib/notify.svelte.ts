// Short messages at the foot of the page, also read out by screen readers.
export interface Notice {
  text: string;
  hint: string | null;
  failed: boolean;
}

const SHOWN_MS = 4_000;

class Notices {
  current = $state.raw<Notice | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  say(text: string, { hint = null, failed = false }: { hint?: string | null; failed?: boolean } = {}): void {
    clearTimeout(this.#timer);
    this.current = { text, hint, failed };
    // A failure stays until the next action, so that its hint can be read.
    if (!failed) this.#timer = setTimeout(() => this.dismiss(), SHOWN_MS);
  }

  dismiss(): void {
    clearTimeout(this.#timer);
    this.current = null;
  }
}

export const notices = new Notices();

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notices.say(`Copied ${what}`);
  } catch {
    copyBySelection(text, what);
  }
}

/** The clipboard API is missing on file:// and on plain HTTP. */
function copyBySelection(text: string, what: string): void {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'offscreen';
  document.body.append(field);
  const before = document.activeElement;
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  if (done) notices.say(`Copied ${what}`);
  else
    notices.say('The browser did not allow copying.', { failed: true, hint: 'Select the text and copy it yourself.' });
}
