import type { Clock, Timer } from '../clock.ts';

/** One timer for the earliest of many moments. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #set: { timer: Timer; atMs: number } | undefined;

  constructor(clock: Clock, ring: () => void) {
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
    this.#set = { timer: this.#clock.after(ms, ring, true), atMs };
  }

  cancel(): void {
    this.#set?.timer.cancel();
  }
}
