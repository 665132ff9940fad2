import { setTimeout as sleep } from 'node:timers/promises';

/** A core slowed down by a neighbour reads 1.4 to 1.8 times as long; an undisturbed one, within a tenth. */
const slower = 1.2;
/** The reading of an undisturbed core, from all readings so far: not the least, which may be chance. */
const undisturbedQuantile = 0.1;
const firstReadings = 30;
const lookEveryMs = 10;
/** Maximum loss, as a share of the time kept: a run may take half as long again. */
const patience = 0.5;
/** Maximum loss before anything was kept. */
const graceMs = 2_000;

/**
 * Measures while the server's core runs at its own speed. On a virtual machine the other hyperthread may belong to
 * somebody else: for half a second at a time everything takes half as long again, no process of this machine is the
 * cause, and steal does not show it. A measurement between two good readings is undisturbed, whichever variant is
 * measured: none is favoured.
 */
export class Undisturbed {
  readonly #read: () => Promise<number>;
  readonly #signal: AbortSignal;
  /** Sorted, so that a quantile is one access. */
  readonly #readings: number[] = [];
  #keptMs = 0;
  #lostMs = 0;

  /** @param read Times a small piece of work that is always the same. */
  constructor(read: () => Promise<number>, signal: AbortSignal) {
    this.#read = read;
    this.#signal = signal;
  }

  /** Share of the time that was waited out, or whose measurements were repeated. */
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
      while (this.isPatient && !(await this.isGood())) {
        await sleep(lookEveryMs, undefined, { signal: this.#signal });
        this.lose(lookEveryMs);
      }
      const startedAt = performance.now();
      const result = await work();
      const tookMs = performance.now() - startedAt;
      if (!this.isPatient || (await this.isGood())) {
        this.keep(tookMs);
        return result;
      }
      this.lose(tookMs);
    }
  }

  /** Whether what is disturbed is still worth measuring again. */
  get isPatient(): boolean {
    return this.#lostMs < patience * this.#keptMs + graceMs;
  }

  keep(ms: number): void {
    this.#keptMs += ms;
  }

  lose(ms: number): void {
    this.#lostMs += ms;
  }

  /** Looks often enough to know what an undisturbed core reads. */
  async calibrate(): Promise<void> {
    while (this.#readings.length < firstReadings) await this.isGood();
  }

  /** Whether the core runs at its own speed now. */
  async isGood(): Promise<boolean> {
    this.#signal.throwIfAborted();
    const reading = await this.#read();
    let place = this.#readings.length;
    while (place > 0 && this.#readings[place - 1]! > reading) place--;
    this.#readings.splice(place, 0, reading);
    const at = Math.floor(undisturbedQuantile * (this.#readings.length - 1));
    return reading <= slower * this.#readings[at]!;
  }
}
