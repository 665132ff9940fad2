/**
 * Returns which of several hypotheses are rejected while the chance of even one false rejection stays below `level` (Holm 1979):
 * the smallest p-value has to be below level/m, the next below level/(m − 1), until one is not.
 */
export function holm(pValues: readonly number[], level = 0.05): boolean[] {
  const rejected = pValues.map(() => false);
  const ascending = pValues
    .map((p, index) => ({ p: Number.isNaN(p) ? 1 : p, index }))
    .sort((a, b) => a.p - b.p);
  for (const [rank, { p, index }] of ascending.entries()) {
    if (!(p <= level / (pValues.length - rank))) break;
    rejected[index] = true;
  }
  return rejected;
}
