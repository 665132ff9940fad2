// The tables of the READMEs share this: figures as text, and the sentence about where and how a run was measured.
import { type BenchResult, type Interval, isMeasured, type MeasuredVariant } from '@redline/lab';

/** Returns a table in GitHub's Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Returns undefined for a variant that was skipped, or is not part of the run. */
export function measured(
  run: Pick<BenchResult, 'variants'> | undefined,
  name: string,
): MeasuredVariant | undefined {
  const variant = run?.variants.find((each) => each.name === name);
  return variant && isMeasured(variant) ? variant : undefined;
}

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

/** Formats the CPU per request. */
export function micros(variant: MeasuredVariant | undefined): string {
  return variant === undefined ? '–' : `${variant.cpuMicrosPerRequest.toFixed(1)} µs`;
}

/** Formats the CPU per request of the base, and the share of it that others take. */
export function cpuOfBase(variant: MeasuredVariant | undefined): string {
  if (variant?.cpuVerdict === 'base') return `${micros(variant)} = 1`;
  return ratioText(shareOf(variant?.cpuRatio));
}

/** Max reach of an interval from its value, as a share of it, for a headline. */
export const narrowReach = 0.15;

export function isNarrow({ value, low, high }: Interval): boolean {
  return high / value - 1 <= narrowReach && 1 - low / value <= narrowReach;
}

/** Formats a share with one digit, or without it if it is zero. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** Returns the min and the max, or one value if they are equal. */
export function span(values: readonly number[]): string {
  return [...new Set([Math.min(...values), Math.max(...values)])].join(' to ');
}

/** Describes the machine and the size of a run, with a warning if it is small, without a full stop. */
export function measuredOn({ machine, load, startedAt, precision, groups }: BenchResult): string {
  const { restarts, blocks } = groups?.[0]?.precision ?? precision;
  const count = `${restarts} ${restarts === 1 ? 'restart' : 'restarts'} × ${blocks} interleaved ${blocks === 1 ? 'block' : 'blocks'}`;
  const place = machine.pinning === 'none' ? 'on the cores of the server' : machine.pinning;
  return `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${load.generator}, ${place}; ${restarts < 3 ? `a quick look (${count})` : count}`;
}

/** The base against itself. */
export function noise({ precision, groups }: BenchResult, metric: 'cpu' | 'rps' = 'cpu'): string {
  const bands = (groups ?? [{ precision }]).map((each) => each.precision[`${metric}Band`]);
  const [low, high] = [Math.min(...bands), Math.max(...bands)].map((band) =>
    (band * 100).toFixed(0),
  );
  const range = low === high ? `${low} %` : `${low} to ${high} %`;
  return `A/A noise in ${metric === 'cpu' ? 'CPU' : 'requests per second'} ± ${range}`;
}

/** @param files in benchmarks/results, without their ending */
export function rawData(...files: string[]): string {
  const links = files.map((file) => {
    const path = `benchmarks/results/${file}.json`;
    return `[${path}](../../${path})`;
  });
  return `Raw data: ${links.join(', ')}.`;
}

/** Links both versions of a chart: text in a picture shrinks with it. */
export function picture(path: string, alt: string): string {
  return `<picture><source media="(max-width: 600px)" srcset="${path}-narrow.svg"><img src="${path}.svg" alt="${alt}"></picture>`;
}
