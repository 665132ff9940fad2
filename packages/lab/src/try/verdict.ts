import { type BenchResult, isMeasured, type MeasuredVariant } from '../bench/result.ts';
import type { Interval } from '../figures.ts';
import { fixed, percent } from '../report/format.ts';
import { median } from '../stats/order-statistics.ts';
import { measuredRows, type MeasuredRow } from '../bench/report/rows.ts';
import { withRedline } from './app.ts';
import type { TryResult, TryVerdict } from './result.ts';

/** Gains up to this factor do not justify a dependency. */
export const minGainForDependency = 1.05;

export interface Tried {
  before: MeasuredVariant;
  after: MeasuredRow;
}

/** Undefined if it failed under load. */
export function triedOf(bench: BenchResult, variant: string = withRedline): Tried | undefined {
  const [before] = bench.variants;
  const after = measuredRows(bench).find(({ name }) => name === variant);
  return before && isMeasured(before) && after ? { before, after } : undefined;
}

/**
 * @param name The variant compared with the unchanged app.
 * @param worthwhile Below this upper bound of the CPU ratio the verdict is `nothing`.
 */
export function verdictOf(
  bench: BenchResult,
  name: string = withRedline,
  worthwhile: number = minGainForDependency,
): TryVerdict {
  const tried = triedOf(bench, name);
  if (tried === undefined) return 'loses';
  const { cpu, rps, variant } = tried.after;
  if (cpu.reading === 'withheld') return 'withheld';
  // Blocks of one restart show nothing of how starts differ.
  if (bench.precision.restarts < 2) return 'unresolved';
  if (cpu.reading === 'worse' || rps.reading === 'worse') return 'loses';
  if (rps.reading === 'better') return 'gains';
  if (cpu.reading === 'same' || variant.cpuRatio.high < worthwhile) return 'nothing';
  return cpu.reading === 'better' ? 'gains' : 'unresolved';
}

/** An interval whose ends differ by this factor is too wide to be useful. */
const maxUsefulSpread = 4;

/** A response that takes this many times its CPU waits for something else. */
const waiting = 3;

/** The result fields that a sentence summarises. */
export type Judged = Pick<TryResult, 'bench' | 'word' | 'response'>;

/** Summarises the verdict in one or two sentences. */
export function sentenceOf({ bench, word, response }: Judged): string {
  const tried = triedOf(bench);
  if (tried === undefined) {
    const skipped = bench.variants.find((each) => !isMeasured(each));
    return `Not for you: ${withRedline} it ${skipped && 'skipped' in skipped ? skipped.skipped : 'did not run'}. Please report it.`;
  }
  const { cpu, rps, variant, rpsIsLowerBound } = tried.after;
  const { cpuRatio, rpsRatio } = variant;
  const atLeast = rpsIsLowerBound ? 'at least ' : '';
  switch (word) {
    case 'withheld':
      return 'The app differed from itself in this run, so nothing can be said of the rest. Stop other work on the machine and try again.';
    case 'loses':
      return cpu.reading === 'worse'
        ? `Not for you: each request takes ${times({ value: 1 / cpuRatio.value, low: 1 / cpuRatio.high, high: 1 / cpuRatio.low })} the CPU.`
        : `Not for you: it serves ${times(rpsRatio)} the requests per second.`;
    case 'nothing':
      return `Not for you, as far as these requests go: at best ${end(cpuRatio.high)}\u00a0× less CPU for each. The time goes elsewhere; redline stairs shows where.`;
    case 'unresolved':
      if (bench.precision.restarts < 2) {
        return 'This run cannot tell: one start of each says nothing of how starts differ. Give it more time with --seconds.';
      }
      if (cpuRatio.high > maxUsefulSpread * cpuRatio.low) {
        return `This run cannot tell: ${bench.precision.restarts} starts of each differ too much from one another. Stop other work on the machine, or give it more time with --seconds.`;
      }
      return `This run cannot tell: between ${end(cpuRatio.low)}\u00a0× and ${end(cpuRatio.high)}\u00a0× less CPU for each request. Stop other work on the machine, or give it more time with --seconds.`;
    case 'gains':
      if (rps.reading === 'better' && cpu.reading === 'better') {
        return `It pays: ${atLeast}${times(rpsRatio)} the requests per second, and ${times(cpuRatio)} less CPU for each.`;
      }
      if (rps.reading === 'better') {
        return `It pays: ${atLeast}${times(rpsRatio)} the requests per second.`;
      }
      return `It pays: ${times(cpuRatio)} less CPU for each request. ${rpsIsLowerBound ? limit(bench, response) : 'This run cannot tell what that makes of requests per second.'}`;
  }
}

/** Share of the time without a core at which other processes are named as the reason. */
const crowded = 0.05;

/** Explains why the server was not busy all the time: no core, responses that wait, or too small a load. */
function limit({ slices }: BenchResult, response: Judged['response']): string {
  const withIt = slices.filter(({ variant }) => variant === withRedline);
  const shares = withIt.map(
    ({ waitedForCoreMicros = 0, seconds }) => waitedForCoreMicros / 1e6 / seconds,
  );
  const share = shares.length === 0 ? 0 : median(shares);
  if (share > crowded) {
    return `Other processes had the server's core for ${percent(Math.min(1, share))} of the time, so requests per second show less than the gain.`;
  }
  if (response !== undefined && response.tookMs > waiting * Math.max(response.cpuMs, 2)) {
    return 'Requests per second are limited by what the app waits for.';
  }
  return 'The load did not keep the server busy all the time, so that requests per second show less than it gains.';
}

function times({ value }: Interval): string {
  return `${fixed(value, value < 1.2 ? 2 : 1)}\u00a0×`;
}

function end(ratio: number): string {
  return fixed(ratio, 2);
}
