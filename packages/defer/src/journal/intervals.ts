import type { Clock, Timer } from '../clock.ts';

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
