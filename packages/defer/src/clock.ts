/** Clock of the core. Durations use `now` only: the wall clock may be set at any moment. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Milliseconds since 1970, for people to read. */
  wall(): number;
  /** Calls back once; the timer keeps the process alive if `isHolding`. */
  after(ms: number, callback: () => void, isHolding: boolean): Timer;
}

export interface Timer {
  cancel(): void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, callback, isHolding) {
    // A delay above 2^31 - 1 would fire at once.
    const timer = setTimeout(callback, Math.min(ms, 2_147_483_647));
    if (!isHolding) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Repeats work until all of it is stopped at once. Does not keep the process alive. */
export class Intervals {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does `work` every `ms` milliseconds, the first time after `ms`. */
  every(ms: number, work: () => void): void {
    if (this.#isStopped) return;
    const timer = this.#clock.after(
      ms,
      () => {
        this.#timers.delete(timer);
        work();
        this.every(ms, work);
      },
      false,
    );
    this.#timers.add(timer);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
  }
}
