import type { CpuProfile } from './cpu-profile.ts';
import { keyOf } from './functions.ts';

/** Returns the line of each function with the most ticks, which V8 counts by line. */
export function hottestLines({ nodes }: CpuProfile): Map<string, number> {
  const ticks = new Map<string, Map<number, number>>();
  for (const { callFrame, positionTicks = [] } of nodes) {
    const { functionName, url, lineNumber, columnNumber } = callFrame;
    const key = keyOf({
      name: functionName || '(anonymous)',
      url,
      line: lineNumber + 1,
      column: columnNumber + 1,
      owner: 'app',
    });
    const own = ticks.get(key) ?? new Map<number, number>();
    ticks.set(key, own);
    for (const { line, ticks: count } of positionTicks) own.set(line, (own.get(line) ?? 0) + count);
  }
  return new Map(
    [...ticks].flatMap(([key, own]) => {
      const [first] = [...own].toSorted(([, a], [, b]) => b - a);
      return first === undefined ? [] : [[key, first[0]] as const];
    }),
  );
}
