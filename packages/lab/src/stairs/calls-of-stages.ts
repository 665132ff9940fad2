import type { CallsSummary } from '../calls-out/result.ts';
import { summariseCalls } from '../calls-out/summarise-calls.ts';
import type { StairsObservations } from './plan.ts';
import type { StageFigures } from './result.ts';

/** Summarises the calls by the stages that were measured: those of a stage without a cut belong to the stage before it. */
export function callsOf(
  { requests }: Pick<StairsObservations, 'requests'>,
  stages: readonly StageFigures[],
  folder: string,
): CallsSummary | undefined {
  return summariseCalls(requests, {
    folder,
    callerOf({ stage = -1 }) {
      const { name, place, cut } = stages.findLast((each) => each.cut <= stage) ?? stages[0]!;
      return { name, place, cut };
    },
  });
}
