import type { Clock } from '../clock.ts';

/** Gives up on jobs that take too long: all have the same limit, so one timer is enough. */
export class AcknowledgeLimit<T extends object> {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #isOver: (item: T) => void;
  /** In the order in which they expire. */
  readonly #waiting = new Map<T, number>();
  #isTimed = false;

  constructor(clock: Clock, limitMs: number, isOver: (item: T) => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#isOver = isOver;
  }

  /** Starts the `limitMs` of an item. */
  watch(item: T): void {
    this.#waiting.set(item, this.#clock.now() + this.#limitMs);
    if (!this.#isTimed) this.#lookIn(this.#limitMs);
  }

  /** Removes an acknowledged job. */
  forget(item: T): void {
    if (this.#waiting.size > 0) this.#waiting.delete(item);
  }

  #lookIn(ms: number): void {
    this.#isTimed = true;
    this.#clock.after(ms, () => this.#look(), false);
  }

  #look(): void {
    this.#isTimed = false;
    const now = this.#clock.now();
    for (const [item, endMs] of this.#waiting) {
      if (endMs > now) return this.#lookIn(endMs - now);
      this.#waiting.delete(item);
      this.#isOver(item);
    }
  }
}
