// Shared by the proofs that draw runs.
import { readFileSync } from 'node:fs';
import { writeResult } from './write-result.ts';

/** Returns a mulberry32 generator: a run can be drawn again. */
export function generator(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws a value of the standard normal distribution (Box and Muller 1958). */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Estimates the undisturbed cost of work, like `redline`. */
export function lowestMean(costs: readonly number[], share: number): number {
  const lowest = costs.toSorted((a, b) => a - b).slice(0, Math.ceil(costs.length * share));
  return lowest.reduce((sum, each) => sum + each, 0) / lowest.length;
}

export function writeSummary(file: string, summary: object): void {
  writeResult(file, summary);
  process.stdout.write(readFileSync(file));
}
