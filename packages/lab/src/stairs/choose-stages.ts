import { quickQuarter } from '../stats/location.ts';
import type { CutSlice } from './preload/protocol.ts';
import { whole } from './preload/protocol.ts';

/**
 * Which cuts are worth their time: those whose stage costs least are given up until few enough are left, so that their
 * cost joins the stage before. The first always stays: it is where the request begins.
 * @param pilot A first look. Its figures are used for nothing else, so that choosing by them biases none.
 */
export function chooseStages(
  pilot: readonly CutSlice[],
  cuts: readonly number[],
  most: number,
): number[] {
  const level = new Map(
    [...cuts, whole].map((cut) => [
      cut,
      quickQuarter(
        pilot
          .filter((slice) => slice.cut === cut && slice.requests > 0)
          .map((slice) => slice.threadMicros / slice.requests),
      ),
    ]),
  );
  const kept = [...cuts];
  const costOf = (index: number): number =>
    level.get(kept[index + 1] ?? whole)! - level.get(kept[index]!)!;
  while (kept.length > most) {
    let cheapest = 1;
    for (let index = 2; index < kept.length; index++) {
      if (Math.abs(costOf(index)) < Math.abs(costOf(cheapest))) cheapest = index;
    }
    kept.splice(cheapest, 1);
  }
  return kept;
}
