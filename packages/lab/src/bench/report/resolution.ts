import { type BenchResult, isMeasured } from '../result.ts';
import type { Interval } from '../../figures.ts';
import { percent, seconds } from '../../report/format.ts';

/**
 * `This machine resolves ± 1.4 % of CPU and ± 9 % of rps in 2 m 48 s.` Half of what the base against itself is
 * uncertain by: what differs by less is nothing this run could have told from nothing.
 */
export function resolutionText(result: BenchResult): string | undefined {
  const { control } = result;
  if (!isMeasured(control)) return undefined;
  const half = ({ low, high }: Interval): string => `±\u00a0${percent((high - low) / 2)}`;
  return `This machine resolves ${half(control.cpuRatio)} of CPU and ${half(control.rpsRatio)} of rps in ${seconds(result.durationSeconds)}.`;
}
