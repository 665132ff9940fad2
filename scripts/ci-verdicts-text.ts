// What docs/guide/ci.md says of the proof `ci-verdicts`.
import { table } from './markdown-table.ts';

interface Verdicts {
  summary: Record<'same' | 'slower', { runs: number; red: number; words: Record<string, number> }>;
  runs: { seconds: number; otherLoad: number }[];
}

export function ciVerdictsText({ summary, runs }: Verdicts): string {
  const row = (
    name: string,
    { runs: count, red, words }: Verdicts['summary']['same'],
  ): string[] => [
    name,
    String(count),
    String(red),
    String(words['undecided'] ?? 0),
    String(words['within'] ?? 0),
  ];
  const seconds = runs.map((run) => run.seconds).toSorted((a, b) => a - b);
  const typical = seconds[Math.floor(seconds.length / 2)] ?? 0;
  return `${table(
    ['commit', 'runs', 'red', 'undecided', 'within'],
    [row('changes nothing', summary.same), row('takes 5 % more CPU', summary.slower)],
  )}

A run takes ${Math.round(typical)} seconds. Raw data: [benchmarks/results/ci-verdicts.json](../../benchmarks/results/ci-verdicts.json).`;
}
