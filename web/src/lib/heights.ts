// Heights of rows as a Fenwick tree: the offset of a row, and the row at an offset, in O(log n).
export class Heights {
  readonly length: number;
  readonly #heights: Float64Array;
  readonly #tree: Float64Array;

  constructor(length: number, estimate: (index: number) => number) {
    this.length = length;
    this.#heights = new Float64Array(length);
    this.#tree = new Float64Array(length + 1);
    for (let i = 0; i < length; i += 1) {
      const height = estimate(i);
      this.#heights[i] = height;
      this.#tree[i + 1] = height;
    }
    for (let i = 1; i <= length; i += 1) {
      const parent = i + (i & -i);
      if (parent <= length) this.#tree[parent]! += this.#tree[i]!;
    }
  }

  at(index: number): number {
    return this.#heights[index] ?? 0;
  }

  set(index: number, height: number): number {
    const change = height - this.at(index);
    if (change === 0 || index < 0 || index >= this.length) return 0;
    this.#heights[index] = height;
    for (let i = index + 1; i <= this.length; i += i & -i) this.#tree[i]! += change;
    return change;
  }

  /** The sum of the heights before a row. */
  offset(index: number): number {
    let sum = 0;
    for (let i = Math.min(index, this.length); i > 0; i -= i & -i) sum += this.#tree[i]!;
    return sum;
  }

  get total(): number {
    return this.offset(this.length);
  }

  /** The row that covers an offset. */
  indexAt(offset: number): number {
    let index = 0;
    let rest = offset;
    for (let step = 1 << Math.max(0, Math.floor(Math.log2(this.length || 1))); step > 0; step >>= 1) {
      const next = index + step;
      if (next <= this.length && this.#tree[next]! <= rest) {
        index = next;
        rest -= this.#tree[next]!;
      }
    }
    return Math.max(0, Math.min(index, this.length - 1));
  }
}
