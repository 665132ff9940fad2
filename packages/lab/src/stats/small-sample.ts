/** The 97.5 % quantile of the normal distribution. */
export const z = 1.959964;

/**
 * Returns the share of resamples below the lower end of a 95 % interval, and above the upper one. With many restarts it would be
 * 2.5 %. With few, resampling shows √((n − 1)/n) of the spread, and the spread itself is poorly known; Student's t, which accounts
 * for both, moves the percentiles further out (expanded percentiles, Hesterberg 2015). Plain percentiles of five restarts hold the
 * truth 83 times in a hundred.
 */
export function smallSampleTail(restarts: number): number {
  // One restart shows nothing of how restarts differ: only its blocks are known.
  if (restarts < 2) return 0.025;
  return normalTail(Math.sqrt(restarts / (restarts - 1)) * tQuantile(restarts - 1));
}

const tTable = [Number.NaN, 12.7062, 4.3027, 3.1824];

/** Returns the 97.5 % quantile of Student's t (a table; Abramowitz & Stegun 26.7.5, within 0.1 % from 4 degrees of freedom). */
export function tQuantile(degrees: number): number {
  return (
    tTable[degrees] ??
    z +
      (z ** 3 + z) / (4 * degrees) +
      (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3) +
      (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) /
        (92_160 * degrees ** 4)
  );
}

/** Returns the chance of a standard normal value above another (Abramowitz & Stegun 26.2.17; error below 1e-7). */
export function normalTail(value: number): number {
  if (value < 0) return 1 - normalTail(-value);
  const t = 1 / (1 + 0.2316419 * value);
  const polynomial =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
