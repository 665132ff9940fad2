import { type BenchResult, ratioBetween } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, ratioText } from './ratio-text.ts';

/** The table of long runs with one workload and few contenders, which have narrow intervals. */
export function closeRuns(runs: readonly BenchResult[]): string[] {
  if (runs.length === 0) return [];
  const rows = runs.map(({ groups, slices }) => {
    const { name, title } = groups![0]!;
    const ratio = (variant: string, other: string): string =>
      ratioText(
        ratioBetween(slices, {
          variant: `${variant}/${name}`,
          other: `${other}/${name}`,
          metric: 'rps',
        }),
      );
    return [
      title ?? name,
      ratio('posix-spawn', 'node'),
      ratio('redline', 'node'),
      ratio('redline', 'posix-spawn'),
    ];
  });
  const head = [
    '',
    'posix-spawn, node = 1',
    '**redline**, node = 1',
    '**redline**, posix-spawn = 1',
  ];
  return [
    '**Beside `node` and `posix-spawn` alone**, requests per second in longer runs of these three:',
    table(head, rows),
  ];
}

/** The sources of the figures in {@link closeRuns}. */
export function describeCloseRuns(runs: readonly BenchResult[]): string[] {
  return runs.map(({ machine, startedAt, precision, groups }) => {
    const { name, precision: own = precision } = groups![0]!;
    const file = `benchmarks/results/spawn-${name}.json`;
    return [
      `\`node\`, \`posix-spawn\` and \`redline\` alone, ${name}: ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}),`,
      `${machine.kernel}, Node ${machine.node.slice(1)}; ${groups![0]!.load.connections} connections, ${ofRun(own.restarts, own.blocks)}, A/A noise ± ${(own.rpsBand * 100).toFixed(0)} %: [${file}](../../${file}).`,
    ].join('\n');
  });
}
