import type { SteadyCore } from '../servers/steady-core.ts';
import type { CutSlice } from './preload/protocol.ts';
import type { SliceShape } from './preload/rotation.ts';
import type { Session } from './session.ts';

/**
 * Rounds of slices whose CPU counts. The load never stops, so the server's core is checked while it is busy: between two slices, in
 * the guard of the second. A slice between two good checks is kept; the others are measured again.
 */
export class MeasuredRounds {
  readonly #session: Session;
  readonly #shape: SliceShape;
  readonly #steadyCore: SteadyCore | undefined;
  #lostMs = 0;

  /** @param steadyCore Undefined if the core is not checked: every slice is kept. */
  constructor(
    session: Session,
    { guardMs, countedMs }: Pick<SliceShape, 'guardMs' | 'countedMs'>,
    steadyCore: SteadyCore | undefined,
  ) {
    this.#session = session;
    this.#shape = { guardMs, countedMs, timesEndings: false, countsMemory: false };
    this.#steadyCore = steadyCore;
  }

  /** Time of slices that were measured again. */
  get lostMs(): number {
    return this.#lostMs;
  }

  /** Measures one slice of each cut, in this order except for repeats. */
  async measure(cuts: readonly number[], round: number): Promise<CutSlice[]> {
    await this.#steadyCore?.calibrate();
    const kept: CutSlice[] = [];
    let open = cuts;
    while (open.length > 0) {
      const again: number[] = [];
      for (const { slice, isGood } of await this.#takeOnce(open)) {
        const ms = slice.seconds * 1_000 + this.#shape.guardMs;
        if (isGood || !this.#steadyCore!.mayRepeat) {
          this.#steadyCore?.addKept(ms);
          kept.push({ ...slice, round });
        } else {
          this.#steadyCore!.addLost(ms);
          this.#lostMs += ms;
          again.push(slice.cut);
        }
      }
      open = again;
    }
    return kept;
  }

  async #takeOnce(cuts: readonly number[]): Promise<{ slice: CutSlice; isGood: boolean }[]> {
    const checks = [this.#checkCore()];
    await checks[0];
    const slices: CutSlice[] = [];
    // One round per slice, so that each is reported as soon as it ends.
    const each = cuts.map((cut) => [cut]);
    await this.#session.rotate(each, this.#shape, (message) => {
      slices.push(...message.slices);
      const check = checks.at(-1)!.then(() => this.#checkCore());
      // An interrupted run awaits none of them.
      check.catch(() => {});
      checks.push(check);
    });
    const good = await Promise.all(checks);
    return slices.map((slice, index) => ({ slice, isGood: good[index]! && good[index + 1]! }));
  }

  async #checkCore(): Promise<boolean> {
    return this.#steadyCore === undefined || this.#steadyCore.isAtFullSpeed();
  }
}
