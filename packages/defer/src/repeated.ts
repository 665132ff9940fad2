import type { Clock } from './clock.ts';

const burst = 10;
const everyMs = 1_000;

/** Has the first of many alike told each, and of the others, once a second, how many there were. */
export class Repeated {
  readonly #clock: Clock;
  readonly #sum: (count: number) => void;
  #told = 0;
  #untold = 0;

  constructor(clock: Clock, sum: (count: number) => void) {
    this.#clock = clock;
    this.#sum = sum;
  }

  tell(one: () => void): void {
    if (this.#told === 0) this.#clock.after(everyMs, () => this.#end(), false);
    if (this.#told < burst) {
      this.#told++;
      one();
    } else {
      this.#untold++;
    }
  }

  /** Says now what has not been said. */
  #end(): void {
    const untold = this.#untold;
    this.#told = 0;
    this.#untold = 0;
    if (untold > 0) this.#sum(untold);
  }
}
