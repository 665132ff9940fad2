import type { Clock } from '../clock.ts';

const minMs = 1_000;
const maxMs = 30_000;

/** A job whose kind hangs is tried alone. */
export type Turn = 'with others' | 'alone';

/**
 * Kinds of job whose handlers do not end in time. Of all of them only one job runs at a time, so that hanging handlers do
 * not take every place; the others wait until one of their kind has ended in time.
 */
export class HangingKinds {
  readonly #clock: Clock;
  /** Time since which each kind hangs. */
  readonly #kinds = new Map<string, number>();
  #isOneTried = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the turn of a job of this kind, which `ended` must be called with, or how long it must wait for one in ms. */
  turn(kind: string): Turn | number {
    const sinceMs = this.#kinds.get(kind);
    if (sinceMs === undefined) return 'with others';
    if (this.#isOneTried) {
      // The longer it hangs, the less often all of them are checked.
      return Math.min(maxMs, Math.max(minMs, (this.#clock.now() - sinceMs) / 2));
    }
    this.#isOneTried = true;
    return 'alone';
  }

  /** Called when a job of this kind has ended, in time or not. Returns true if that changes the state of the kind. */
  ended(kind: string, turn: Turn, inTime: boolean): boolean {
    if (turn === 'alone') this.#isOneTried = false;
    if (inTime) return this.#kinds.delete(kind);
    if (this.#kinds.has(kind)) return false;
    this.#kinds.set(kind, this.#clock.now());
    return true;
  }
}
