/** A wait between `minMs` and `maxMs`, growing by the factor with each failure. */
export interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
  readonly factor: number;
}

/**
 * Returns the wait after the `failures`th failure in a row: random within the upper half of the step, so that jobs that
 * failed together do not come back together.
 */
export function backoffMs(
  { minMs, maxMs, factor }: Backoff,
  failures: number,
  random: () => number,
): number {
  const step = Math.min(maxMs, minMs * factor ** Math.min(failures - 1, 64));
  return step * (0.5 + random() / 2);
}
