import { type BenchResult, type MeasuredVariant, ratioBetween } from '@redline/lab';
import { measured, measuredOn, ratioText, rawData, shareOf, table } from './format.ts';

const sizes: Record<string, { title: string; mib: number }> = {
  '1k': { title: '1 KiB', mib: 1 / 1024 },
  '64k': { title: '64 KiB', mib: 1 / 16 },
  '1m': { title: '1 MiB', mib: 1 },
  '16m': { title: '16 MiB', mib: 16 },
};
const contenders = {
  'send-node': '`send` on node:http',
  'send-redline': 'on the engine',
  'express-node': '`express.static`',
  'express-redline': 'on the engine',
  nginx: 'nginx',
};

/** The costs of files: for packages/http/README.md. */
export function filesTables(result: BenchResult): string {
  return `**Server CPU**, µs per request:

${grid(result, ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest.toFixed(0))}

**MiB per second**, of what a core sends beside the load:

${grid(result, ({ rps }, mib) => (rps * mib).toFixed(mib < 0.01 ? 1 : 0))}

**CPU of the engine as a share of Node’s**:

${shares(result)}

Files in memory, 16 connections (4 for 16 MiB). The CPU is that of the whole process, libuv’s threads included.
\`npm run bench -- files\`. ${measuredOn(result)}. ${rawData('files')}`;
}

function grid(
  result: BenchResult,
  show: (variant: MeasuredVariant, mib: number) => string,
): string {
  const rows = Object.entries(sizes).map(([size, { title, mib }]) => [
    title,
    ...Object.keys(contenders).map((name) => {
      const variant = measured(result, `${name}/${size}`);
      return variant === undefined ? '–' : show(variant, mib);
    }),
  ]);
  return table(['', ...Object.values(contenders)], rows);
}

function shares({ slices }: BenchResult): string {
  const rows = Object.entries(sizes).map(([size, { title }]) => [
    title,
    ...['send', 'express'].map((by) => {
      const pair = { variant: `${by}-redline/${size}`, other: `${by}-node/${size}` };
      return ratioText(shareOf(ratioBetween(slices, { ...pair, metric: 'cpu' })));
    }),
  ]);
  return table(['', '`send`', '`express.static`'], rows);
}
