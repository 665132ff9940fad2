import type { Clock } from '../clock.ts';

const minMs = 1_000;
const maxMs = 30_000;

/**
 * Kinds of job whose handlers do not end in time. Of all of them only one job runs at a time, so that hanging handlers do
 * not take every place; the others wait until one of their kind has ended in time.
 */
export class HangingKinds {
  readonly #clock: Clock;
  /** Time since which each kind hangs. */
  readonly #kinds = new Map<string, number>();
  #probe: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns how long a job of this kind must wait; 0: it runs, and `ended` must be called. */
  waitMs(kind: string): number {
    if (this.#kinds.size === 0) return 0;
    const sinceMs = this.#kinds.get(kind);
    if (sinceMs === undefined) return 0;
    if (this.#probe === undefined) {
      this.#probe = kind;
      return 0;
    }
    // The longer it hangs, the less often all of them are checked.
    return Math.min(maxMs, Math.max(minMs, (this.#clock.now() - sinceMs) / 2));
  }

  /** Called when a job of this kind has ended, in time or not. Returns true if that changes the state of the kind. */
  ended(kind: string, inTime: boolean): boolean {
    if (this.#probe === kind) this.#probe = undefined;
    if (inTime) return this.#kinds.size > 0 && this.#kinds.delete(kind);
    if (this.#kinds.has(kind)) return false;
    this.#kinds.set(kind, this.#clock.now());
    return true;
  }
}
