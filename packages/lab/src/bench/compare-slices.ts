import type { Comparison, Interval } from '../figures.ts';
import type { Slice } from './result.ts';
import { seededRandom } from '../stats/random.ts';
import { bandOf, compare, defaultMargin, holdsOne } from '../stats/verdict.ts';
import { cpuMetric, type Metric, pairedRatio, rpsMetric } from './paired-ratio.ts';

export interface SliceComparison extends Comparison {
  /** An estimate is `changed` only beyond this, as a fraction. */
  band: number;
  /** True if the interval of the baseline against itself holds 1. Otherwise a report withholds the verdict. */
  isTrusted: boolean;
}

/**
 * Judges CPU per request from raw slices alone, as `redline bench` does, for slices chosen by the caller.
 * @param options.control Name of the baseline's second copy. @default `${baseline} again`
 * @param options.seed Seed of the resampling. @default 1
 * @param options.margin Limit of `same`, as a fraction. @default 0.02
 * @param options.resamples Fewer than for a report, for callers that compare often. @default 2_000
 */
export function compareSlices(
  slices: readonly Slice[],
  {
    baseline,
    variant,
    control = `${baseline} again`,
    seed = 1,
    margin = defaultMargin,
    resamples = 2_000,
  }: {
    baseline: string;
    variant: string;
    control?: string;
    seed?: number;
    margin?: number;
    resamples?: number;
  },
): SliceComparison {
  const random = seededRandom(seed);
  const ratioOf = (name: string, others: string[]): Comparison['ratio'] =>
    pairedRatio({ slices, name, others }, cpuMetric, random, resamples);
  const controlRatio = ratioOf(control, [baseline]);
  const band = bandOf(controlRatio, margin);
  const own = slices.filter((slice) => slice.variant === variant);
  const restarts = new Set(own.map(({ restart }) => restart)).size;
  return {
    ...compare(ratioOf(variant, [baseline, control]), { margin, band }, restarts),
    band,
    isTrusted: holdsOne(controlRatio),
  };
}

const metrics: Record<'cpu' | 'rps', Metric> = { cpu: cpuMetric, rps: rpsMetric };

/**
 * Compares a variant with one that is not its baseline, better above 1, by the estimator of a report and with its interval. Gives
 * no verdict: the control of a run belongs to its baseline. Undefined if the two share no block.
 * @param options.metric CPU per request, or requests per second
 * @param options.seed Seed of the resampling. @default 1
 */
export function ratioBetween(
  slices: readonly Slice[],
  {
    variant,
    other,
    metric,
    seed = 1,
  }: { variant: string; other: string; metric: 'cpu' | 'rps'; seed?: number },
): Interval | undefined {
  const pairing = { slices, name: variant, others: [other] };
  const ratio = pairedRatio(pairing, metrics[metric], seededRandom(seed));
  return Number.isNaN(ratio.value) ? undefined : ratio;
}
