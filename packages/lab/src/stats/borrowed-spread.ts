import { mean } from './quantile.ts';

/** How much starts of each server vary, and how well that is known. */
export interface Spread {
  /** Of the log level of one start, a value for each server. */
  variances: number[];
  /** Degrees of freedom of each of them. */
  degrees: number;
}

/**
 * How many times what a server shows of itself the others may count. With more, intervals of servers that vary much more than
 * the others held the truth 92 times in a hundred.
 */
const mostTimesOwn = 2;

/**
 * How much starts of each server vary, where there are few of them but many servers: what a handful of starts shows of its own
 * spread is mostly chance, and all were started on one machine within the same minutes. What a restart does to all alike is taken
 * out; each variance then counts with the common one, the more of it the less the variances differ (empirical Bayes; Smyth 2004).
 * Where they differ widely, each keeps its own.
 * @param levels Log levels, a row for each restart and a column for each server.
 */
export function borrowSpread(levels: readonly (readonly number[])[]): Spread {
  const own = levels.length - 1;
  const variances = residualVariances(levels);
  const known = variances.filter((variance) => variance > 0);
  if (known.length < 2) return { variances, degrees: own };
  const common = commonVariance(known, own);
  const borrowed = Math.min(common.degrees, mostTimesOwn * own);
  return {
    variances: variances.map(
      (variance) => (borrowed * common.variance + own * variance) / (borrowed + own),
    ),
    degrees: Math.floor(borrowed + own),
  };
}

/** Of what a restart and a server do not explain. */
function residualVariances(levels: readonly (readonly number[])[]): number[] {
  const [restarts, servers] = [levels.length, levels[0]!.length];
  const ofRestarts = levels.map(mean);
  const all = mean(ofRestarts);
  return Array.from({ length: servers }, (_, server) => {
    const shift = mean(levels.map((row) => row[server]!)) - all;
    const squares = levels.map((row, at) => (row[server]! - ofRestarts[at]! - shift) ** 2);
    return (mean(squares) * restarts) / ((restarts - 1) * (1 - 1 / servers));
  });
}

/** The variance that servers have in common, and how many degrees of freedom that is worth: the more, the less theirs differ. */
function commonVariance(
  variances: readonly number[],
  own: number,
): { variance: number; degrees: number } {
  const logs = variances.map(
    (variance) => Math.log(variance) - digamma(own / 2) + Math.log(own / 2),
  );
  const centre = mean(logs);
  const squares = mean(logs.map((log) => (log - centre) ** 2));
  const excess = (squares * logs.length) / (logs.length - 1) - trigamma(own / 2);
  if (excess <= 0) return { variance: Math.exp(centre), degrees: Infinity };
  const half = inverseTrigamma(excess);
  return { variance: Math.exp(centre + digamma(half) - Math.log(half)), degrees: 2 * half };
}

/** From here on the series below are exact to 1e-9. */
const large = 10;

/** Abramowitz & Stegun 6.3.5 and 6.3.18. */
function digamma(x: number): number {
  if (x < large) return digamma(x + 1) - 1 / x;
  const square = 1 / x ** 2;
  return Math.log(x) - 1 / (2 * x) - square * (1 / 12 - square * (1 / 120 - square / 252));
}

/** Abramowitz & Stegun 6.4.6 and 6.4.12. */
function trigamma(x: number): number {
  if (x < large) return trigamma(x + 1) + 1 / x ** 2;
  const square = 1 / x ** 2;
  return 1 / x + square / 2 + (square / x) * (1 / 6 - square * (1 / 30 - square / 42));
}

/** It falls all the way, so that halving an interval finds it. */
function inverseTrigamma(y: number): number {
  let [low, high] = [1e-6, 1e6];
  for (let step = 0; step < 100; step++) {
    const middle = Math.sqrt(low * high);
    if (trigamma(middle) > y) low = middle;
    else high = middle;
  }
  return Math.sqrt(low * high);
}
