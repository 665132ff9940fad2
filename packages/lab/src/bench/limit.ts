import type { Interval } from '../figures.ts';
import { fixed, percent } from '../report/format.ts';
import { splitGroups } from './groups.ts';
import { type BenchResult, isMeasured, type Limit, type LimitVerdict } from './result.ts';

/** Judges each variant. Noise alone makes none `slower`: that takes an A/A control and an interval beyond its reach as well. */
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
      // The ratio is the base's CPU divided by the variant's.
      const more = { value: 1 / value - 1, low: 1 / high - 1, high: 1 / low - 1 };
      return { name, more, word: limitVerdict(more, share, noise) };
    }),
  };
}

/**
 * Returns the farthest distance from 1 of the interval of the base against itself. An interval that excludes 1 reaches far, and
 * only a variant beyond even that can be slower.
 */
function reachOf({ low, high }: Interval): number {
  return Math.max(high, 1 / low) - 1;
}

function limitVerdict(
  { low, high }: Interval,
  share: number,
  noise: number | undefined,
): LimitVerdict {
  if (noise !== undefined && low > Math.max(share, noise)) return 'slower';
  return high > share ? 'undecided' : 'within';
}

/** Returns the noise first, then a sentence for each variant. */
export function limitSentences({ share, noise, variants }: Limit): string[] {
  const noiseSentence =
    noise === undefined
      ? 'The base was not measured against itself, so nothing can be called slower.'
      : `The base against itself: up to ± ${percent(noise)}${noise > share ? `, so that only more than that can be called slower than the ${percent(share)} allowed` : ''}.`;
  return [
    noiseSentence,
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
