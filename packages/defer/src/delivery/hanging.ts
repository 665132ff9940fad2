import type { Clock } from '../clock.ts';

const leastMs = 1_000;
const mostMs = 30_000;

/**
 * Kinds of job whose handlers do not end in time. Of all of them one job at a time goes, so that what hangs does not
 * take every place there is; the others are left alone until one of their kind has ended in time.
 */
export class Hanging {
  readonly #clock: Clock;
  /** Since when. */
  readonly #kinds = new Map<string, number>();
  #probe: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long a job of this kind must wait; 0: it goes, and `ended` is to be called. */
  waitMs(kind: string): number {
    if (this.#kinds.size === 0) return 0;
    const sinceMs = this.#kinds.get(kind);
    if (sinceMs === undefined) return 0;
    if (this.#probe === undefined) {
      this.#probe = kind;
      return 0;
    }
    // The longer it hangs, the less often all of them are looked at.
    return Math.min(mostMs, Math.max(leastMs, (this.#clock.now() - sinceMs) / 2));
  }

  /** A job of this kind has ended, in time or not. True where that is news. */
  ended(kind: string, inTime: boolean): boolean {
    if (this.#probe === kind) this.#probe = undefined;
    if (inTime) return this.#kinds.size > 0 && this.#kinds.delete(kind);
    if (this.#kinds.has(kind)) return false;
    this.#kinds.set(kind, this.#clock.now());
    return true;
  }
}
