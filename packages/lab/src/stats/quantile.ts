/**
 * Interpolates linearly between order statistics (Hyndman & Fan 1996, type 7).
 * @param sorted Ascending.
 * @param share 0 to 1.
 */
export function quantileOfSorted(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (position - below);
}

export function median(values: readonly number[]): number {
  return quantileOfSorted(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
