import type { FlameResult } from './result.ts';

/** Indented for people, but a line each for functions and frames: there are thousands. */
export function formatFlameJson({ functions, tree, ...result }: FlameResult): string {
  const head = JSON.stringify(result, undefined, 2).slice(0, -2);
  return `${head},\n  "functions": [\n${lines(functions)}\n  ],\n  "tree": [\n${lines(tree)}\n  ]\n}\n`;
}

function lines(values: readonly object[]): string {
  return values.map((value) => `    ${JSON.stringify(value)}`).join(',\n');
}
