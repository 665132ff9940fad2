import { type BenchResult, isMeasured, type MeasuredVariant } from '../bench/result.ts';
import type { Interval } from '../figures.ts';
import { fixed } from '../report/format.ts';
import { measuredRows, type MeasuredRow } from '../bench/report/rows.ts';
import { withRedline } from './app.ts';
import type { TryResult, TryWord } from './result.ts';

/** What gains at most this is not worth a dependency. */
export const worthADependency = 1.05;

export interface Tried {
  before: MeasuredVariant;
  after: MeasuredRow;
}

/** Undefined where it failed under load. */
export function triedOf(bench: BenchResult, variant: string = withRedline): Tried | undefined {
  const [before] = bench.variants;
  const after = measuredRows(bench).find(({ name }) => name === variant);
  return before && isMeasured(before) && after ? { before, after } : undefined;
}

/**
 * @param name What was compared with the app as it is.
 * @param worthwhile What surely gains less, by CPU per request, gains nothing.
 */
export function wordOf(
  bench: BenchResult,
  name: string = withRedline,
  worthwhile: number = worthADependency,
): TryWord {
  const tried = triedOf(bench, name);
  if (tried === undefined) return 'loses';
  const { cpu, rps, variant } = tried.after;
  if (cpu.reading === 'withheld') return 'withheld';
  // Its blocks show nothing of how starts differ.
  if (bench.precision.restarts < 2) return 'unresolved';
  if (cpu.reading === 'worse' || rps.reading === 'worse') return 'loses';
  if (rps.reading === 'better') return 'gains';
  if (cpu.reading === 'same' || variant.cpuRatio.high < worthwhile) return 'nothing';
  return cpu.reading === 'better' ? 'gains' : 'unresolved';
}

/** An interval whose ends differ by this factor says nothing that a person can use. */
const saysNothing = 4;

/** A response that takes so many times its CPU waits for something else. */
const waiting = 3;

/** What a sentence is about. */
export type Judged = Pick<TryResult, 'bench' | 'word' | 'response'>;

/** What a person wants to know, in one or two sentences. */
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
      if (cpuRatio.high > saysNothing * cpuRatio.low) {
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
      return `It pays: ${times(cpuRatio)} less CPU for each request. ${rpsIsLowerBound ? limit(response) : 'This run cannot tell what that makes of requests per second.'}`;
  }
}

/** The server was not busy all the time: the load was not enough, or each response waits for something. */
function limit(response: Judged['response']): string {
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
