import type { StairsResult } from './result.ts';

/** Indented for people, but one line a slice: there are hundreds. */
export function formatStairsJson({ slices, ...result }: StairsResult): string {
  const head = JSON.stringify(result, undefined, 2).slice(0, -2);
  const lines = slices.map((slice) => `    ${JSON.stringify(slice)}`).join(',\n');
  return `${head},\n  "slices": [\n${lines}\n  ]\n}\n`;
}
