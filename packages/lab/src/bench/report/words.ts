import { fixed, milliseconds, plural } from '../../report/format.ts';
import { defaultMargin } from '../../stats/verdict.ts';
import type { BenchResult } from '../result.ts';

/** `3 restarts × 12 blocks`. */
export function rounds({ precision }: BenchResult): string {
  return `${plural(precision.restarts, 'restart')} × ${plural(precision.blocks, 'block')}`;
}

/** Files of older versions name none. */
export function marginOf({ precision }: BenchResult): number {
  return precision.margin ?? defaultMargin;
}

/** `1 s`, or `1 s or 12 000 requests`: whichever takes longer. */
export function warmUpText({ precision: { warmupMs, warmupRequests } }: BenchResult): string {
  const time = milliseconds(warmupMs);
  return warmupRequests ? `${time} or ${fixed(warmupRequests)} requests` : time;
}
