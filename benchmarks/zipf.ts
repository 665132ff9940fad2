// Request frequencies of many items: a few very often, most rarely, as in a shop.

/**
 * Returns numbers from 1 to `count` in a shuffled order that is always the same: number k occurs as often as Zipf's law
 * predicts, count / k / H(count) times of `draws`, and at least once.
 */
export function zipf(count: number, draws: number): number[] {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const harmonic = numbers.reduce((sum, number) => sum + 1 / number, 0);
  const drawn = numbers.flatMap((number) => {
    const times = Math.max(1, Math.round(draws / number / harmonic));
    return Array.from({ length: times }, () => number);
  });
  // Deterministic: two runs send the same requests, and so do the contenders of one run.
  let state = 1;
  for (let at = drawn.length - 1; at > 0; at--) {
    state = (state * 48_271) % 2_147_483_647;
    const other = state % (at + 1);
    [drawn[at], drawn[other]] = [drawn[other]!, drawn[at]!];
  }
  return drawn;
}
