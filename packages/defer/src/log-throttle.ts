import type { Clock } from './clock.ts';

const burst = 10;
const everyMs = 1_000;

/** Logs the first of a burst individually, then one count per second. */
export class LogThrottle {
  readonly #clock: Clock;
  readonly #logCount: (count: number) => void;
  #logged = 0;
  #suppressed = 0;

  constructor(clock: Clock, logCount: (count: number) => void) {
    this.#clock = clock;
    this.#logCount = logCount;
  }

  log(logOne: () => void): void {
    if (this.#logged === 0) this.#clock.after(everyMs, () => this.#end(), false);
    if (this.#logged < burst) {
      this.#logged++;
      logOne();
    } else {
      this.#suppressed++;
    }
  }

  /** Reports the suppressed count. */
  #end(): void {
    const suppressed = this.#suppressed;
    this.#logged = 0;
    this.#suppressed = 0;
    if (suppressed > 0) this.#logCount(suppressed);
  }
}
