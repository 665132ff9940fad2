import { lowestQuarterMean } from '../stats/location.ts';
import type { CutSlice } from './preload/protocol.ts';
import { whole } from './preload/protocol.ts';

/**
 * Selects the cuts worth their time: those with the cheapest stages are dropped until few enough are left, and their cost joins the
 * stage before. The first always stays: it is where the request begins.
 * @param pilot A short first measurement. Its figures are used for nothing else, so that the selection does not bias the result.
 */
export function chooseStages(
  pilot: readonly CutSlice[],
  cuts: readonly number[],
  maxStages: number,
): number[] {
  const level = new Map(
    [...cuts, whole].map((cut) => [
      cut,
      lowestQuarterMean(
        pilot
          .filter((slice) => slice.cut === cut && slice.requests > 0)
          .map((slice) => slice.threadMicros / slice.requests),
      ),
    ]),
  );
  const kept = [...cuts];
  const costOf = (index: number): number =>
    level.get(kept[index + 1] ?? whole)! - level.get(kept[index]!)!;
  while (kept.length > maxStages) {
    let cheapest = 1;
    for (let index = 2; index < kept.length; index++) {
      if (Math.abs(costOf(index)) < Math.abs(costOf(cheapest))) cheapest = index;
    }
    kept.splice(cheapest, 1);
  }
  return kept;
}
