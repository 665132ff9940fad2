import type { Interval } from '../figures.ts';
import { fixed, percent } from '../report/format.ts';
import { splitGroups } from './groups.ts';
import { type BenchResult, isMeasured, type Limit, type LimitWord } from './result.ts';

/** No noise makes a variant `slower`: without an A/A control nothing is, and with one it has to be beyond that too. */
export function limitOf(result: BenchResult, share: number): Limit {
  const limits = splitGroups(result).map((part) => limitOfGroup(part, share));
  const noises = limits.flatMap(({ noise }) => noise ?? []);
  return {
    share,
    ...(noises.length === 0 ? {} : { noise: Math.max(...noises) }),
    variants: limits.flatMap(({ variants }) => variants),
  };
}

function limitOfGroup({ variants, control }: BenchResult, share: number): Limit {
  const noise = isMeasured(control) ? reachOf(control.cpuRatio) : undefined;
  const judged = variants.filter(isMeasured).filter(({ cpuVerdict }) => cpuVerdict !== 'base');
  return {
    share,
    ...(noise === undefined ? {} : { noise }),
    variants: judged.map(({ name, cpuRatio: { value, low, high } }) => {
      // The ratio is the base's CPU by the variant's.
      const more = { value: 1 / value - 1, low: 1 / high - 1, high: 1 / low - 1 };
      return { name, more, word: wordOf(more, share, noise) };
    }),
  };
}

/**
 * The farthest from 1 that the interval of the base against itself goes. Where it does not even hold 1 it goes far, and only
 * what is far beyond can be slower.
 */
function reachOf({ low, high }: Interval): number {
  return Math.max(high, 1 / low) - 1;
}

function wordOf({ low, high }: Interval, share: number, noise: number | undefined): LimitWord {
  if (noise !== undefined && low > Math.max(share, noise)) return 'slower';
  return high > share ? 'undecided' : 'within';
}

/** Noise first, then a sentence for each variant. */
export function limitSentences({ share, noise, variants }: Limit): string[] {
  const told =
    noise === undefined
      ? 'The base was not measured against itself, so nothing can be called slower.'
      : `The base against itself: up to ± ${percent(noise)}${noise > share ? `, so that only more than that can be called slower than the ${percent(share)} allowed` : ''}.`;
  return [
    told,
    ...variants.map(({ name, more: { value, low, high }, word }) => {
      const change = `${signedPercent(value)} CPU per request [${signedPercent(low)}, ${signedPercent(high)}]`;
      switch (word) {
        case 'slower':
          return `${name} takes at least ${signedPercent(low).replace('+', '')} more CPU than the base, and ${percent(share)} is allowed: ${change}.`;
        case 'undecided':
          return `${name} may take more CPU by ${percent(share)}, and this run cannot tell: ${change}. Measure more restarts, or stop other work on the machine.`;
        case 'within':
          return `${name} keeps within ${percent(share)}: ${change}.`;
      }
    }),
  ];
}

function signedPercent(fraction: number): string {
  const text = fixed(fraction * 100, 1);
  return `${fraction > 0 && text !== '0.0' ? '+' : ''}${text}\u00a0%`;
}
