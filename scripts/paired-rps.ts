import type { BenchResult, Slice } from '@redline/lab';

/**
 * Requests per second of one variant against another that is not its baseline: slices of one block side by side,
 * median within a restart, mean over restarts, as the runner does it. Undefined when they share no block.
 */
export function pairedRps(
  { slices }: BenchResult,
  name: string,
  other: string,
): number | undefined {
  const rps = ({ requests, seconds }: Slice): number => requests / seconds;
  const others = new Map(
    slices.filter(({ variant }) => variant === other).map((slice) => [placeOf(slice), slice]),
  );
  const restarts = new Map<number, number[]>();
  for (const slice of slices) {
    const opposite = slice.variant === name ? others.get(placeOf(slice)) : undefined;
    if (opposite === undefined) continue;
    const logs = restarts.get(slice.restart) ?? [];
    logs.push(Math.log(rps(slice) / rps(opposite)));
    restarts.set(slice.restart, logs);
  }
  if (restarts.size === 0) return undefined;
  const medians = [...restarts.values()].map(median);
  return Math.exp(medians.reduce((sum, each) => sum + each, 0) / medians.length);
}

function placeOf({ restart, block }: Slice): string {
  return `${restart}/${block}`;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2;
}
