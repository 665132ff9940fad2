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

/** Lets callers wait until nothing is left to do. */
export class Idleness {
  readonly #isIdle: () => boolean;
  #waiting: (() => void)[] = [];

  constructor(isIdle: () => boolean) {
    this.#isIdle = isIdle;
  }

  /** Resolves when nothing is left, or `signal` aborts. */
  async reached(signal: AbortSignal): Promise<void> {
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => abort(), { once: true });
    while (!this.#isIdle() && !signal.aborted) {
      await Promise.race([
        aborted,
        new Promise<void>((resolve) => void this.#waiting.push(resolve)),
      ]);
    }
  }

  /** Must be called after each change that may have been the last. */
  look(): void {
    if (this.#waiting.length === 0 || !this.#isIdle()) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
