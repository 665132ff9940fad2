// The sentence of the READMEs about `npm run bench -- register`.
import type { RegisterResult } from '../proofs/register.ts';

export function registerText(result: RegisterResult, hook: string): string {
  const { addedMs } = result.hooks.find(({ name }) => name === hook)!;
  const [median, low, high] = addedMs.map((ms) => ms.toFixed(1));
  return `A Node process that does nothing else takes ${median} ms [${low}, ${high}] of CPU more with it than with an empty \`--import\` (${result.emptyMs.toFixed(1)} ms; medians of ${result.rounds} interleaved starts, Node ${result.node.slice(1)}, ${result.startedAt.slice(0, 10)}: \`npm run bench -- register\`).`;
}
