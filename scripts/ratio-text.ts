import type { Interval } from '@redline/lab';

/** The lab's ratios are better above 1; what is used of a thing is shown as a share of what the other uses. */
export function shareOf(ratio: Interval | undefined): Interval | undefined {
  return ratio && { value: 1 / ratio.value, low: 1 / ratio.high, high: 1 / ratio.low };
}

/** A ratio as the tables show it, with its interval where there is one. */
export function ratioText(ratio: Interval | undefined): string {
  if (ratio === undefined) return '–';
  const { value, low, high } = ratio;
  const digits = value >= 20 ? 0 : value < 0.1 ? 3 : 2;
  // Of two restarts an interval may reach over decades: its digits would say nothing.
  const from = low < 0.1 && value >= 0.1 ? '<0.1' : low.toFixed(digits);
  const to = high > 10 && high > 5 * value ? '>10' : high.toFixed(digits);
  const interval = low === high ? '' : ` [${from}, ${to}]`;
  return `${value.toFixed(digits)} ×${interval}`;
}

/** How much was measured, and a warning where that is little. */
export function ofRun(restarts: number, blocks: number): string {
  const count = `${restarts} ${restarts === 1 ? 'restart' : 'restarts'} × ${blocks} interleaved ${blocks === 1 ? 'block' : 'blocks'}`;
  return restarts < 3 ? `a quick look (${count})` : count;
}

/** A share with one digit, or none where that is nought. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
