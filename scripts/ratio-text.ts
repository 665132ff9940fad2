import type { Interval } from '@redline/lab';

/** Inverts a ratio of the lab, which is better above 1, into the share that one takes of the other. */
export function shareOf(ratio: Interval | undefined): Interval | undefined {
  return ratio && { value: 1 / ratio.value, low: 1 / ratio.high, high: 1 / ratio.low };
}

/** Formats a ratio for the tables, with its interval if it has one. */
export function ratioText(ratio: Interval | undefined): string {
  if (ratio === undefined) return '–';
  const { value, low, high } = ratio;
  const digits = value >= 20 ? 0 : value < 0.1 ? 3 : 2;
  // With two restarts, an interval may span decades: its digits would be meaningless.
  const from = low < 0.1 && value >= 0.1 ? '<0.1' : low.toFixed(digits);
  const to = high > 10 && high > 5 * value ? '>10' : high.toFixed(digits);
  const interval = low === high ? '' : ` [${from}, ${to}]`;
  return `${value.toFixed(digits)} ×${interval}`;
}

/** Max reach of an interval from its value, as a share of it, for a headline. */
export const narrowReach = 0.15;

export function isNarrow({ value, low, high }: Interval): boolean {
  return high / value - 1 <= narrowReach && 1 - low / value <= narrowReach;
}

/** Describes the size of a run, with a warning if it is small. */
export function ofRun(restarts: number, blocks: number): string {
  const count = `${restarts} ${restarts === 1 ? 'restart' : 'restarts'} × ${blocks} interleaved ${blocks === 1 ? 'block' : 'blocks'}`;
  return restarts < 3 ? `a quick look (${count})` : count;
}

/** Formats a share with one digit, or without it if it is zero. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
