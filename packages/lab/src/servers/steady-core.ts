import { setTimeout as sleep } from 'node:timers/promises';

/** A core slowed down by a neighbour reads 1.4 to 1.8 times as long; an undisturbed one, within a tenth. */
const slowFactor = 1.2;
/** Quantile of all readings so far that an undisturbed core has: not the min, which may be chance. */
const fullSpeedQuantile = 0.1;
const firstReadings = 30;
const pollMs = 10;
/** Maximum loss, as a share of the time kept: a run may take half as long again. */
const maxLostPerKept = 0.5;
/** Maximum loss before anything was kept. */
const graceMs = 2_000;

/**
 * Measures while the server's core runs at full speed. On a virtual machine the other hyperthread may belong to another tenant: for
 * half a second at a time everything takes half as long again, no process of this machine is the cause, and steal does not show it.
 * A measurement between two good readings is undisturbed, whichever variant is measured: none is favoured.
 */
export class SteadyCore {
  readonly #read: () => Promise<number>;
  readonly #signal: AbortSignal;
  /** Sorted, so that a quantile is one access. */
  readonly #readings: number[] = [];
  #keptMs = 0;
  #lostMs = 0;

  /** @param read Times a small fixed piece of work. */
  constructor(read: () => Promise<number>, signal: AbortSignal) {
    this.#read = read;
    this.#signal = signal;
  }

  /** Share of the time that was spent waiting, or whose measurements were repeated. */
  get lostShare(): number {
    return this.#lostMs / Math.max(1, this.#keptMs + this.#lostMs);
  }

  /**
   * Runs `work` while the core is undisturbed, and repeats it if the core was disturbed before the end. It loses at
   * most half as much time as it keeps; beyond that it keeps every result.
   */
  async measure<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.calibrate();
    for (;;) {
      while (this.mayRepeat && !(await this.isAtFullSpeed())) {
        await sleep(pollMs, undefined, { signal: this.#signal });
        this.addLost(pollMs);
      }
      const startedAt = performance.now();
      const result = await work();
      const tookMs = performance.now() - startedAt;
      if (!this.mayRepeat || (await this.isAtFullSpeed())) {
        this.addKept(tookMs);
        return result;
      }
      this.addLost(tookMs);
    }
  }

  /** True while disturbed measurements may still be repeated. */
  get mayRepeat(): boolean {
    return this.#lostMs < maxLostPerKept * this.#keptMs + graceMs;
  }

  addKept(ms: number): void {
    this.#keptMs += ms;
  }

  addLost(ms: number): void {
    this.#lostMs += ms;
  }

  /** Takes enough readings to know what an undisturbed core reads. */
  async calibrate(): Promise<void> {
    while (this.#readings.length < firstReadings) await this.isAtFullSpeed();
  }

  /** Takes a reading; resolves to true if the core runs at full speed. */
  async isAtFullSpeed(): Promise<boolean> {
    this.#signal.throwIfAborted();
    const reading = await this.#read();
    let place = this.#readings.length;
    while (place > 0 && this.#readings[place - 1]! > reading) place--;
    this.#readings.splice(place, 0, reading);
    const at = Math.floor(fullSpeedQuantile * (this.#readings.length - 1));
    return reading <= slowFactor * this.#readings[at]!;
  }
}
