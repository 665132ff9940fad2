import { type BenchResult, isMeasured, type MeasuredVariant, ratioBetween } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, ratioText, shareOf } from './ratio-text.ts';

const sizes: Record<string, { title: string; mib: number }> = {
  '1k': { title: '1 KiB', mib: 1 / 1024 },
  '64k': { title: '64 KiB', mib: 1 / 16 },
  '1m': { title: '1 MiB', mib: 1 },
  '16m': { title: '16 MiB', mib: 16 },
};
const contenders = ['send-node', 'send-redline', 'express-node', 'express-redline', 'nginx'];
const titles = [
  '`send` on node:http',
  'on the engine',
  '`express.static`',
  'on the engine',
  'nginx',
];

/** The costs of files: for packages/http/README.md. */
export function filesTables(result: BenchResult): string {
  return [
    '**Server CPU**, µs per request:',
    grid(result, ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest.toFixed(0)),
    '**MiB per second**, of what a core sends beside the load:',
    grid(result, ({ rps }, mib) => (rps * mib).toFixed(mib < 0.01 ? 1 : 0)),
    '**CPU of the engine as a share of Node’s**:',
    shares(result),
    describeRun(result),
  ].join('\n\n');
}

function grid(
  result: BenchResult,
  show: (variant: MeasuredVariant, mib: number) => string,
): string {
  const rows = Object.entries(sizes).map(([size, { title, mib }]) => [
    title,
    ...contenders.map((name) => {
      const variant = result.variants.find((each) => each.name === `${name}/${size}`);
      return variant !== undefined && isMeasured(variant) ? show(variant, mib) : '–';
    }),
  ]);
  return table(['', ...titles], rows);
}

function shares(result: BenchResult): string {
  const rows = Object.entries(sizes).map(([size, { title }]) => [
    title,
    ...['send', 'express'].map((by) => {
      const pair = { variant: `${by}-redline/${size}`, other: `${by}-node/${size}` };
      return ratioText(shareOf(ratioBetween(result.slices, { ...pair, metric: 'cpu' })));
    }),
  ]);
  return table(['', '`send`', '`express.static`'], rows);
}

function describeRun({ machine, precision, startedAt }: BenchResult): string {
  const { restarts, blocks } = precision;
  return [
    `Files in memory, 16 connections (4 for 16 MiB). Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel},`,
    `${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${machine.pinning}; ${ofRun(restarts, blocks)}.`,
    'The CPU is that of the whole process, libuv’s threads included. `npm run bench -- files`; raw data:',
    '[files.json](../../benchmarks/results/files.json).',
  ].join('\n');
}
