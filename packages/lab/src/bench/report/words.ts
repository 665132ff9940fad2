import type { Interval } from '../../figures.ts';
import { fixed, milliseconds, percent, plural, seconds } from '../../report/format.ts';
import { defaultMargin, holdsOne } from '../../stats/verdict.ts';
import { type BenchResult, isMeasured } from '../result.ts';

/** Returns, for example, `3 restarts × 12 blocks`. */
export function rounds({ precision }: BenchResult): string {
  return `${plural(precision.restarts, 'restart')} × ${plural(precision.blocks, 'block')}`;
}

/** Uses the default for files of older versions, which contain no margin. */
export function marginOf({ precision }: BenchResult): number {
  return precision.margin ?? defaultMargin;
}

/** Returns `1 s`, or `1 s or 12 000 requests`: whichever takes longer. */
export function warmUpText({ precision: { warmupMs, warmupRequests } }: BenchResult): string {
  const time = milliseconds(warmupMs);
  return warmupRequests ? `${time} or ${fixed(warmupRequests)} requests` : time;
}

/** Compares every variant with the floor of this machine, or gives the reason why the floor could not be measured. */
export function floorText({ floor, variants }: BenchResult): string | undefined {
  const own = variants.find(({ name }) => name === floor);
  if (own === undefined) return undefined;
  if (!isMeasured(own)) return `No share of the floor: ${own.name} was skipped, ${own.skipped}.`;
  const others = variants.filter(isMeasured).flatMap(({ name, floorRatio }) => {
    if (floorRatio === undefined) return [];
    const { value, low, high } = floorRatio;
    return [`${name} ${fixed(value, 2)} [${fixed(low, 2)}, ${fixed(high, 2)}]`];
  });
  return `CPU per request as a multiple of the floor, ${own.name} with ${fixed(own.cpuMicrosPerRequest, 1)} µs: ${others.join(', ')}.`;
}

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
