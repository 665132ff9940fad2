import { setTimeout as sleep } from 'node:timers/promises';

/** A core that a neighbour slows down reads 1.4 to 1.8 times as long; one that is left alone, within a tenth. */
const slower = 1.2;
/** Of all readings so far, what an undisturbed core reads: not the least, which may be a moment of luck. */
const undisturbedQuantile = 0.1;
const firstReadings = 30;
const lookEveryMs = 10;
/** Lost at most, as a share of what was kept: a run may take half as long again as it would. */
const patience = 0.5;
/** Lost at most before anything was kept. */
const graceMs = 2_000;

/**
 * Measures while the server's core runs at its own speed. On a virtual machine the other hyperthread may be somebody else's:
 * for half a second at a time everything takes half as long again, no process of this machine is the cause, and steal does
 * not show it. What is measured between two good readings is not disturbed, whoever is measured: no variant is favoured.
 */
export class Undisturbed {
  readonly #read: () => Promise<number>;
  readonly #signal: AbortSignal;
  /** Sorted, so that a quantile is one look. */
  readonly #readings: number[] = [];
  #keptMs = 0;
  #lostMs = 0;

  /** @param read How long a little work takes that is always the same. */
  constructor(read: () => Promise<number>, signal: AbortSignal) {
    this.#read = read;
    this.#signal = signal;
  }

  /** Share of the time that was waited out, or whose measurements were made again. */
  get lostShare(): number {
    return this.#lostMs / Math.max(1, this.#keptMs + this.#lostMs);
  }

  /**
   * Does `work` while the core is undisturbed, and again when it was not until the end. It loses half as much time as what it
   * keeps has taken; beyond that it keeps what it gets.
   */
  async measure<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#readings.length < firstReadings) await this.#isGood();
    for (;;) {
      while (this.#isPatient && !(await this.#isGood())) {
        await sleep(lookEveryMs, undefined, { signal: this.#signal });
        this.#lostMs += lookEveryMs;
      }
      const startedAt = performance.now();
      const result = await work();
      const tookMs = performance.now() - startedAt;
      if (!this.#isPatient || (await this.#isGood())) {
        this.#keptMs += tookMs;
        return result;
      }
      this.#lostMs += tookMs;
    }
  }

  get #isPatient(): boolean {
    return this.#lostMs < patience * this.#keptMs + graceMs;
  }

  async #isGood(): Promise<boolean> {
    this.#signal.throwIfAborted();
    const reading = await this.#read();
    let place = this.#readings.length;
    while (place > 0 && this.#readings[place - 1]! > reading) place--;
    this.#readings.splice(place, 0, reading);
    const at = Math.floor(undisturbedQuantile * (this.#readings.length - 1));
    return reading <= slower * this.#readings[at]!;
  }
}
