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
