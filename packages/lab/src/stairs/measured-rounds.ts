import type { Undisturbed } from '../servers/undisturbed.ts';
import type { CutSlice } from './preload/protocol.ts';
import type { SliceShape } from './preload/rotation.ts';
import type { Session } from './session.ts';

/**
 * Rounds of slices whose CPU counts. The load never stops, so the server's core is looked at while it is busy: between two
 * slices, in the guard of the second. A slice between two good looks is kept, and the others are measured again.
 */
export class MeasuredRounds {
  readonly #session: Session;
  readonly #shape: SliceShape;
  readonly #undisturbed: Undisturbed | undefined;
  #lostMs = 0;

  /** @param undisturbed Undefined where nothing watches the core: every slice is kept. */
  constructor(
    session: Session,
    { guardMs, countedMs }: Pick<SliceShape, 'guardMs' | 'countedMs'>,
    undisturbed: Undisturbed | undefined,
  ) {
    this.#session = session;
    this.#shape = { guardMs, countedMs, timesEndings: false };
    this.#undisturbed = undisturbed;
  }

  /** Time of slices that were measured again. */
  get lostMs(): number {
    return this.#lostMs;
  }

  /** One slice of each cut, in this order as far as it goes. */
  async measure(cuts: readonly number[], round: number): Promise<CutSlice[]> {
    await this.#undisturbed?.calibrate();
    const kept: CutSlice[] = [];
    let open = cuts;
    while (open.length > 0) {
      const again: number[] = [];
      for (const { slice, isGood } of await this.#takeOnce(open)) {
        const ms = slice.seconds * 1_000 + this.#shape.guardMs;
        if (isGood || !this.#undisturbed!.isPatient) {
          this.#undisturbed?.keep(ms);
          kept.push({ ...slice, round });
        } else {
          this.#undisturbed!.lose(ms);
          this.#lostMs += ms;
          again.push(slice.cut);
        }
      }
      open = again;
    }
    return kept;
  }

  async #takeOnce(cuts: readonly number[]): Promise<{ slice: CutSlice; isGood: boolean }[]> {
    const looks = [this.#look()];
    await looks[0];
    const slices: CutSlice[] = [];
    // A round for each, so that each is reported as soon as it ends.
    const each = cuts.map((cut) => [cut]);
    await this.#session.rotate(each, this.#shape, (message) => {
      slices.push(...message.slices);
      const look = looks.at(-1)!.then(() => this.#look());
      // A run that is interrupted waits for none of them.
      look.catch(() => {});
      looks.push(look);
    });
    const good = await Promise.all(looks);
    return slices.map((slice, index) => ({ slice, isGood: good[index]! && good[index + 1]! }));
  }

  async #look(): Promise<boolean> {
    return this.#undisturbed === undefined || this.#undisturbed.isGood();
  }
}
