import type { Clock, Timer } from '../clock.ts';

/** One timer for the earliest of many moments. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  readonly #isHolding: boolean;
  #set: { timer: Timer; atMs: number } | undefined;

  /** Keeps the process alive until it rings, unless `isHolding` is false. */
  constructor(clock: Clock, ring: () => void, isHolding = true) {
    this.#isHolding = isHolding;
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings in `ms` at the latest. */
  ringIn(ms: number, now: number): void {
    const atMs = now + ms;
    if (this.#set !== undefined && this.#set.atMs <= atMs) return;
    this.#set?.timer.cancel();
    const ring = (): void => {
      this.#set = undefined;
      this.#ring();
    };
    this.#set = { timer: this.#clock.after(ms, ring, this.#isHolding), atMs };
  }

  cancel(): void {
    this.#set?.timer.cancel();
  }
}
