import { type BenchResult, isMeasured, type MeasuredVariant } from '@redline/lab';
import { pairedRps } from './paired-rps.ts';
import { table } from './markdown-table.ts';

const contenders = ['node-http', 'fastify', 'redline', 'fastify-redline', 'bun', 'go', 'hyper'];
const loads = ['c4', 'c64', 'c64-headers', 'c200', 'post', 'stream'];
/** What the servers of the group `idle` measured of themselves. */
interface IdleVariant extends MeasuredVariant {
  connections?: number;
  rssBeforeMiB?: number;
}

/** The tables of packages/http/README.md. */
export function httpTables(result: BenchResult): string {
  return [
    '**Requests per second**, `node-http` = 1, with 95 % intervals:',
    grid(contenders, loads, (contender, load) => againstNode(result, contender, load)),
    '**Fastify on the engine against Fastify on node:http**, requests per second and CPU per request:',
    grid(['requests/s', 'CPU'], loads, (what, load) => {
      if (what === 'CPU') return cpuRatio(result, load);
      return against(result, 'fastify-redline', 'fastify', load);
    }),
    '**Server CPU**, µs per request:',
    grid(contenders, loads, (contender, load) => figure(result, contender, load, cpu)),
    '**p99**, ms, open loop:',
    grid(contenders, loads, (contender, load) => figure(result, contender, load, p99)),
    '**Resident set under load**, MiB:',
    grid(contenders, loads, (contender, load) => figure(result, contender, load, rss)),
    idleTable(result),
    describeRun(result),
  ].join('\n\n');
}

/** The short table of the root README. */
export function httpSummary(result: BenchResult): string {
  const shown = ['c64', 'c64-headers', 'c200', 'post', 'stream'];
  return grid(contenders, shown, (contender, load) => againstNode(result, contender, load));
}

const cpu = (variant: MeasuredVariant) => variant.cpuMicrosPerRequest.toFixed(1);
const p99 = ({ latencyMs }: MeasuredVariant) => latencyMs.p99.toFixed(1);
const rss = ({ rssMiB }: MeasuredVariant) => rssMiB.toFixed(0);

function idleTable(result: BenchResult): string {
  const names = contenders.filter((name) => find(result, name, 'idle') !== undefined);
  if (names.length === 0) return '';
  const connections = Math.max(
    ...names.map((name) => find(result, name, 'idle')?.connections ?? 0),
  );
  const rows = ['before', 'with them'].map((when) => [
    when,
    ...names.map((name) => {
      const variant = find(result, name, 'idle')!;
      return (when === 'before' ? (variant.rssBeforeMiB ?? Number.NaN) : variant.rssMiB).toFixed(0);
    }),
  ]);
  return `**Resident set with ${connections} idle connections**, MiB:\n\n${table(['', ...names], rows)}`;
}

/** Against the baseline, with the interval the run gave it. */
function againstNode(result: BenchResult, contender: string, load: string): string {
  const variant = find(result, contender, load);
  if (variant === undefined) return absent(result, contender, load);
  const { value, low, high } = variant.rpsRatio;
  const interval = low === high ? '' : ` [${low.toFixed(2)}, ${high.toFixed(2)}]`;
  return `${value.toFixed(2)} ×${interval}`;
}

function against(result: BenchResult, contender: string, other: string, load: string): string {
  const value = pairedRps(result, `${contender}/${load}`, `${other}/${load}`);
  return value === undefined ? absent(result, contender, load) : `${value.toFixed(2)} ×`;
}

function cpuRatio(result: BenchResult, load: string): string {
  const [ours, theirs] = ['fastify-redline', 'fastify'].map((name) => find(result, name, load));
  if (ours === undefined || theirs === undefined) return '–';
  return `${(ours.cpuMicrosPerRequest / theirs.cpuMicrosPerRequest).toFixed(2)} ×`;
}

function figure(
  result: BenchResult,
  contender: string,
  load: string,
  show: (variant: MeasuredVariant) => string,
): string {
  const variant = find(result, contender, load);
  return variant === undefined ? absent(result, contender, load) : show(variant);
}

function absent({ variants }: BenchResult, contender: string, load: string): string {
  return variants.some(({ name }) => name === `${contender}/${load}`) ? 'skipped' : '–';
}

function find({ variants }: BenchResult, contender: string, load: string): IdleVariant | undefined {
  const variant = variants.find(({ name }) => name === `${contender}/${load}`);
  return variant !== undefined && isMeasured(variant) ? variant : undefined;
}

function grid(
  rows: readonly string[],
  columns: readonly string[],
  cell: (row: string, column: string) => string,
): string {
  const named = (name: string) => (name.includes('redline') ? `**${name}**` : name);
  return table(
    ['', ...columns.map((column) => `\`${column}\``)],
    rows.map((row) => [named(row), ...columns.map((column) => cell(row, column))]),
  );
}

function describeRun({ machine, load, startedAt, groups }: BenchResult): string {
  const { restarts, blocks } = groups![0]!.precision;
  const noise = groups!
    .map(({ name, precision }) => `${name} ± ${(precision.rpsBand * 100).toFixed(0)} %`)
    .join(', ');
  return [
    `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel},`,
    `Node ${machine.node.slice(1)}; ${load.generator}, ${machine.pinning}; ${restarts} restarts × ${blocks} interleaved blocks.`,
    `\`c64\`: 64 connections, 593 bytes of JSON; \`-headers\`: ten request headers; \`post\`: 1 KB of JSON, parsed; \`stream\`: 1 MiB in 16 chunks.`,
    `A/A noise in requests per second: ${noise}. Where the load saturates before the server, its figure is a lower bound; CPU per`,
    'request is not. Loopback says nothing about a network, nor these small handlers about yours.',
    'Raw data: [benchmarks/results/http.json](../../benchmarks/results/http.json).',
  ].join('\n');
}
