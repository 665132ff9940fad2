import { type BenchResult, isMeasured, type MeasuredVariant } from '@redline/lab';
import { loggerNotes } from '../contenders/logger-variants.ts';
import type { LoggerLoss } from '../proofs/logger-loss.ts';
import { measuredOn, noise, ratioText, rawData, shareOf, table } from './format.ts';

const frameworks = { fastify: 'Fastify', express: 'Express' };
const ends = {
  SIGTERM: 'SIGTERM',
  'SIGTERM-hooks': 'SIGTERM, `enableShutdownHooks()`',
  'process.exit': '`process.exit()`',
  SIGKILL: 'SIGKILL',
} as const;

/** The tables of docs/guide/logger.md. */
export function loggerTables(result: BenchResult, loss: LoggerLoss): string {
  return [
    '**CPU per request with one JSON line for each response**, all threads, without a logger = 1, with 95 % intervals; and the 99th percentile of the latency at a fixed rate:',
    costTable(result, loss),
    describeRun(result),
    `**Lines of answered requests that are missing after the process has ended**, on Fastify under load, the worst of ${loss.runs} runs:`,
    lossTable(loss),
  ].join('\n\n');
}

function costTable(result: BenchResult, loss: LoggerLoss): string {
  const head = [
    'logger',
    'bytes a line',
    ...Object.values(frameworks).flatMap((title) => [`${title}, CPU`, `p99 ms`]),
  ];
  const rows = Object.entries(loggerNotes).map(([logger, note]) => [
    note,
    String(loss.loggers[logger]?.bytesPerLine ?? '–'),
    ...Object.keys(frameworks).flatMap((framework) => {
      const variant = result.variants.find(({ name }) => name === `${framework}/${logger}`);
      if (variant === undefined) return ['–', '–'];
      return isMeasured(variant) ? cells(variant) : ['skipped', '–'];
    }),
  ]);
  return table(head, rows);
}

function cells({ cpuVerdict, cpuRatio, latencyMs }: MeasuredVariant): string[] {
  const cpu = cpuVerdict === 'base' ? '1' : ratioText(shareOf(cpuRatio));
  return [cpu, latencyMs.p99.toFixed(1)];
}

function lossTable({ loggers }: LoggerLoss): string {
  const rows = Object.entries(loggers).map(([logger, { ended }]) => [
    loggerNotes[logger]!,
    ...Object.keys(ends).map((end) => {
      const runs = ended[end as keyof typeof ends];
      const worst = runs.reduce((max, run) => (run.lost > max.lost ? run : max));
      return worst.lost === 0 ? '0' : `${worst.lost} of ${worst.answered}`;
    }),
  ]);
  return table(['logger', ...Object.values(ends)], rows);
}

function describeRun(result: BenchResult): string {
  const { connections, openLoopRps } = result.load;
  return `A Nest 12 app on node:http, one route with 593 bytes of JSON and ten request headers, ${connections} connections; p99 at ${openLoopRps} requests a second.
Loggers without a request line of their own write the fields of \`LoggerModule\`. A difference within the noise does not count.
\`npm run bench -- logger\`, \`npm run bench -- logger-loss\`. ${measuredOn(result)}; ${noise(result)}. ${rawData('logger', 'logger-loss')}`;
}
