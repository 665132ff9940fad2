import { type BenchResult, isMeasured } from '../result.ts';
import type { Interval } from '../../figures.ts';
import { percent, seconds } from '../../report/format.ts';

/**
 * Returns `This machine resolves ± 1.4 % of CPU and ± 9 % of rps in 2 m 48 s.`: half the width of the interval of the base against
 * itself. This run could not have detected a smaller difference.
 */
export function resolutionText(result: BenchResult): string | undefined {
  const { control } = result;
  if (!isMeasured(control)) return undefined;
  const half = ({ low, high }: Interval): string => `±\u00a0${percent((high - low) / 2)}`;
  return `This machine resolves ${half(control.cpuRatio)} of CPU and ${half(control.rpsRatio)} of rps in ${seconds(result.durationSeconds)}.`;
}
