const lowest: number[] = [];

/**
 * Returns the mean of the lowest quarter. Disturbances of a slice (another process, an interrupt, a collection of the old space)
 * only ever add to it, and may affect half of all slices: the lowest quarter is the undisturbed cost of the work. On a busy machine
 * its interval is half as wide as that of the lower half, and it lies nearer to the truth.
 */
export function lowestQuarterMean(values: ArrayLike<number>): number {
  return lowestMean(values, 1 / 4);
}

/** Returns the mean of the lowest values. @param share of all values */
export function lowestMean(values: ArrayLike<number>, share: number): number {
  const count = Math.ceil(values.length * share);
  // Insertion into the few lowest so far: for some dozens of values this is several times faster than a sort.
  lowest.length = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (lowest.length === count && value >= lowest[count - 1]!) continue;
    let place = Math.min(lowest.length, count - 1);
    while (place > 0 && lowest[place - 1]! > value) {
      lowest[place] = lowest[place - 1]!;
      place--;
    }
    lowest[place] = value;
  }
  let sum = 0;
  for (let i = 0; i < count; i++) sum += lowest[i]!;
  return sum / count;
}
