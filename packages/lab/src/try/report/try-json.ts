import type { TryResult } from '../result.ts';

/** Indented for people, but one line a slice: there are hundreds. */
export function formatTryJson({ bench: { slices, ...bench }, ...result }: TryResult): string {
  const head = JSON.stringify({ ...result, bench }, undefined, 2).slice(0, -'\n  }\n}'.length);
  const lines = slices.map((slice) => `      ${JSON.stringify(slice)}`).join(',\n');
  return `${head},\n    "slices": [\n${lines}\n    ]\n  }\n}\n`;
}
