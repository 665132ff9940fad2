import { holdsOne } from '../../stats/verdict.ts';
import { type BenchResult, isMeasured } from '../result.ts';

/** The metrics that the A/A control vouches for. CPU is the metric of record: without it, neither is vouched for. */
export interface Trust {
  cpu: boolean;
  rps: boolean;
}

export function trustOf(result: BenchResult): Trust {
  const { control } = result;
  if (!isMeasured(control)) return { cpu: true, rps: true };
  const cpu = holdsOne(control.cpuRatio);
  return { cpu, rps: cpu && holdsOne(control.rpsRatio) };
}
