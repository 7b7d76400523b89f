// The keyboard map. Pages register what their keys do; help and the command palette list the same entries.
import { onMount } from 'svelte';

export interface Binding {
  /** A key as `event.key` names it, or a chord: `g f`. */
  keys: string;
  label: string;
  run: () => void;
  /** Works while typing in a field too. */
  always?: boolean;
}

export interface Scope {
  title: string;
  bindings: Binding[];
}

const CHORD_MS = 1_200;

class Keyboard {
  scopes = $state.raw<Scope[]>([]);
  /** A dialog takes all keys while it is open. */
  #modals = 0;
  #pending = '';
  #pendingSince = 0;

  add(scope: Scope): () => void {
    this.scopes = [...this.scopes, scope];
    return () => {
      this.scopes = this.scopes.filter((other) => other !== scope);
    };
  }

  modal(): () => void {
    this.#modals += 1;
    return () => {
      this.#modals -= 1;
    };
  }

  handle(event: KeyboardEvent): void {
    if (this.#modals > 0 || event.altKey || event.isComposing || event.defaultPrevented) return;
    const name = `${event.ctrlKey || event.metaKey ? 'Ctrl-' : ''}${event.key}`;
    const typing = isField(event.target);
    const chord = event.timeStamp - this.#pendingSince < CHORD_MS && this.#pending ? `${this.#pending} ${name}` : '';
    this.#pending = '';
    const found = (chord && this.#find(chord, typing)) || this.#find(name, typing);
    if (found) {
      event.preventDefault();
      found.run();
    } else if (!typing && this.#startsChord(name)) {
      this.#pending = name;
      this.#pendingSince = event.timeStamp;
    }
  }

  /** The latest scope wins: a page over the application. */
  #find(keys: string, typing: boolean): Binding | undefined {
    for (const scope of [...this.scopes].reverse()) {
      const found = scope.bindings.find((b) => b.keys === keys && (!typing || b.always));
      if (found) return found;
    }
    return undefined;
  }

  #startsChord(name: string): boolean {
    return this.scopes.some((scope) => scope.bindings.some((b) => b.keys.startsWith(`${name} `)));
  }
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName) || isTextInput(target);
}

function isTextInput(target: HTMLElement): boolean {
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'range'].includes(target.type);
}

export const keyboard = new Keyboard();

/** Registers keys for as long as the component is shown. */
export function useKeys(title: string, bindings: Binding[]): void {
  onMount(() => keyboard.add({ title, bindings }));
}
