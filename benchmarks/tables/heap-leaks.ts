import type { HeapLeaks } from '../proofs/heap-leaks.ts';
import { table } from './format.ts';

/** The findings of `redline heap` in apps with and without a leak: for docs/guide/heap.md. */
export function heapLeaksText({ summary, runs, machine }: HeapLeaks): string {
  const { cpuModel, cores, node } = machine as { cpuModel: string; cores: number; node: string };
  const widest = Math.max(
    ...runs
      .filter(({ leaks }) => !leaks)
      .map(({ growth }) => Math.max(Math.abs(growth.low), Math.abs(growth.high))),
  );
  const steady = runs.filter(({ leaks }) => !leaks).map(({ app }) => nameOf(app));
  return [
    `In ${summary.found} of ${summary.leaks} apps with a planted leak, the line that keeps the objects is named first; in ${summary.falseAlarms} of ${summary.steady} apps without one, growth is reported. The apps were written along with the command: they show what it can find, not how often it finds leaks in other code.`,
    table(
      ['leak', 'kB per 1,000 requests', 'named first', 'found of the growth'],
      runs
        .filter(({ leaks }) => leaks)
        .map(({ app, growth, sites, explained, isRight }) => [
          nameOf(app),
          `${kilobytes(growth.value)} [${kilobytes(growth.low)}, ${kilobytes(growth.high)}]`,
          isRight ? `\`${sites[0]!.line.replace(/\s*\/\/.*$/, '')}\`` : 'another line',
          `${Math.round(100 * Math.min(1, explained ?? 0))} %`,
        ]),
    ),
    `Without growth: ${steady.join(', ')}; the widest interval reaches ± ${kilobytes(widest)} kB.`,
    [
      `Measured on ${cores} cores (${cpuModel}), Node ${node.slice(1)}.`,
      '`npm run bench -- heap-leaks`; raw data: [heap-leaks.json](../../benchmarks/results/heap-leaks.json).',
    ].join('\n'),
  ].join('\n\n');
}

function nameOf(app: string): string {
  return app
    .replace(/^\w+\//, '')
    .replace(/\.\w+$/, '')
    .replaceAll('-', ' ');
}

function kilobytes(bytes: number): string {
  return (bytes / 1_000).toFixed(Math.abs(bytes) < 10_000 ? 1 : 0).replace('-', '−');
}
