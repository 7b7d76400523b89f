// The row that the keyboard is on, shared by all lists.
import type { Binding } from './keys.svelte';

export interface RowFocus {
  focusRow(index: number): Promise<void> | void;
}

export class Cursor {
  index = $state(-1);
  list = $state<RowFocus>();

  constructor(readonly count: () => number) {}

  move(by: number): void {
    this.to(this.index < 0 ? (by > 0 ? 0 : this.count() - 1) : this.index + by);
  }

  to(index: number): void {
    const count = this.count();
    if (count === 0) return;
    this.index = Math.max(0, Math.min(index, count - 1));
    void this.list?.focusRow(this.index);
  }

  get bindings(): Binding[] {
    return [
      { keys: 'j', label: 'Next row', run: () => this.move(1) },
      { keys: 'k', label: 'Previous row', run: () => this.move(-1) },
      { keys: 'ArrowDown', label: 'Next row', run: () => this.move(1) },
      { keys: 'ArrowUp', label: 'Previous row', run: () => this.move(-1) },
      { keys: 'Home', label: 'First row', run: () => this.to(0) },
      { keys: 'End', label: 'Last row', run: () => this.to(this.count() - 1) },
    ];
  }
}
