import { fixed, milliseconds, plural } from '../../report/format.ts';
import { defaultMargin } from '../../stats/verdict.ts';
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
