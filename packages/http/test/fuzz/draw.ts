/** Draws that a seed repeats (mulberry32). */
export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** 0 to 1. */
  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.number() * count);
  }

  chance(share: number): boolean {
    return this.number() < share;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** Few of them more often than many. */
  list<T>(most: number, draw: () => T): T[] {
    const count = 1 + Math.floor(this.number() ** 2 * most);
    return Array.from({ length: count }, draw);
  }
}
