import { type BenchResult, isMeasured } from '../result.ts';
import type { Interval } from '../../figures.ts';
import { percent, seconds } from '../../report/format.ts';

/**
 * Returns `This machine resolves ± 1.4 % of CPU and ± 9 % of rps in 2 m 48 s.`: half the width of the interval of the base against
 * itself. This run could not have detected a smaller difference.
 */
export function resolutionText(result: BenchResult): string | undefined {
  const { control, precision, durationSeconds } = result;
  if (!isMeasured(control)) return undefined;
  const half = ({ low, high }: Interval): string => `±\u00a0${percent((high - low) / 2)}`;
  const resolves = `resolves ${half(control.cpuRatio)} of CPU and ${half(control.rpsRatio)} of rps`;
  const time = seconds(durationSeconds);
  if (precision.restarts > 1) return `This machine ${resolves} in ${time}.`;
  // The interval of one start comes from its blocks alone, and two starts of one server differ by more.
  const within =
    precision.blocks === 1
      ? 'One block of one start of each server shows no noise'
      : `Within one start of each server, this machine ${resolves}`;
  return `${within}, in ${time}. How other starts differ is unknown: --restarts 4 shows it.`;
}
