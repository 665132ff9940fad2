import {
  type BenchResult,
  type GroupFacts,
  type Interval,
  isMeasured,
  type MeasuredVariant,
  ratioBetween,
} from '@redline/lab';
import { measured, measuredOn, ratioText, rawData, shareOf, table } from './format.ts';
import { byModel, fileOf, floorText, floorWords, modelOf, rangeText } from './runs-by-model.ts';

const contenders = ['node-http', 'fastify', 'redline', 'fastify-redline', 'bun', 'go', 'hyper'];
/** The rows of the tables, because there are more loads than a page is wide. */
const loads: Record<string, string> = {
  c1: 'one connection',
  c4: '4 connections',
  c64: '64 connections',
  c200: '200 connections',
  'c64-headers': '64, ten request headers',
  'pipelined-16': '64, 16 requests at a time',
  short: '64, ten requests each',
  post: '1 KB of JSON posted',
  'json-post-10k': '10 KB of JSON posted',
  stream: '1 MiB in 16 chunks',
};
/** Figures that the servers of the group `idle` report about themselves. */
interface IdleVariant extends MeasuredVariant {
  connections?: number;
  rssBeforeMiB?: number;
}

/** The tables of packages/http/README.md: the ranges, then every model. */
export function httpTables(runs: readonly BenchResult[]): string {
  const fastify = (load: string) => (run: BenchResult) => onFastify(run, load, 'rps');
  const rows = Object.entries(loads).map(([load, title]) => [
    `\`${load}\` ${title}`,
    rangeText(byModel(runs, (run) => find(run, 'redline', load)?.rpsRatio)),
    rangeText(byModel(runs, fastify(load))),
  ]);
  return [
    '**Requests per second on the engine**, the same on `node:http` = 1, on the models that were measured:',
    table(['', '**no framework**', '**Fastify**'], rows),
    'Each run is of the engine of its day: below.',
    floorWords,
    ...runs.map(
      (run) =>
        `<details><summary>Every figure: ${modelOf(run)}, Node ${run.machine.node.slice(1)}</summary>\n\n${ofModel(run)}\n\n</details>`,
    ),
  ].join('\n\n');
}

function ofModel(result: BenchResult): string {
  const others = contenders.slice(1);
  const hasFloor = result.variants.some(({ name }) => name.startsWith('floor/'));
  return [
    '**Requests per second**, `node-http` = 1, with 95 % intervals:',
    grid(result, others, (variant) => ratioText(variant.rpsRatio)),
    '**Fastify on the engine against Fastify on node:http**:',
    fastifyTable(result),
    '**Server CPU**, µs per request:',
    grid(result, contenders, ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest.toFixed(1)),
    ...(hasFloor
      ? [
          '**Share of the floor**: server CPU, `floor` = 1:',
          grid(result, contenders, floorText, ({ floor }) => floor !== undefined),
        ]
      : []),
    '**p99**, ms, open loop:',
    grid(result, contenders, ({ latencyMs }) => latencyMs.p99.toFixed(1)),
    busyTable(result),
    threadsTable(result),
    '**Resident set under load**, MiB:',
    grid(result, contenders, ({ rssMiB }) => rssMiB.toFixed(0)),
    idleTable(result),
    describeRun(result),
  ].join('\n\n');
}

/** Lists loads down, contenders across; loads that were not measured are omitted. */
function grid(
  result: BenchResult,
  columns: readonly string[],
  show: (variant: MeasuredVariant) => string,
  has: (group: GroupFacts) => boolean = () => true,
): string {
  const rows = loadsOf(result, has).map((load) => [
    `\`${load}\` ${loads[load]}`,
    ...columns.map((contender) => {
      const variant = find(result, contender, load);
      return variant === undefined ? absent(result, contender, load) : show(variant);
    }),
  ]);
  return table(['', ...columns.map(named)], rows);
}

function fastifyTable(result: BenchResult): string {
  const rows = loadsOf(result).map((load) => [
    `\`${load}\``,
    ratioText(onFastify(result, load, 'rps')),
    ratioText(shareOf(onFastify(result, load, 'cpu'))),
  ]);
  return table(['', 'requests/s', 'CPU per request'], rows);
}

/** Returns the ratio of Fastify on the engine to Fastify on node:http. */
function onFastify(
  { slices }: BenchResult,
  load: string,
  metric: 'rps' | 'cpu',
): Interval | undefined {
  const pair = { variant: `fastify-redline/${load}`, other: `fastify/${load}` };
  return ratioBetween(slices, { ...pair, metric });
}

function busyTable(result: BenchResult): string {
  const there = contenders.filter((name) => find(result, name, 'c64-busy') !== undefined);
  if (there.length === 0) return '';
  const show = (quantile: (latencyMs: MeasuredVariant['latencyMs']) => string): string[] =>
    there.map((name) => quantile(find(result, name, 'c64-busy')!.latencyMs));
  const rows = [
    ['p50', ...show(({ p50 }) => p50.toFixed(1))],
    ['p99', ...show(({ p99, p99Low, p99High }) => `${p99.toFixed(1)}${within(p99Low, p99High)}`)],
  ];
  return [
    '**`c64-busy`**, 64 requests at a time, of which one in eight keeps the CPU for 5 ms: latency of the others, ms:',
    table(['', ...there.map(named)], rows),
  ].join('\n\n');
}

function threadsTable(result: BenchResult): string {
  const ofGroup = result.variants.filter(({ group }) => group === 'threads-2');
  if (ofGroup.length === 0) return '';
  const rows = ofGroup.map((variant) => [
    named(variant.note ?? variant.name),
    ...(isMeasured(variant)
      ? [
          variant.rpsVerdict === 'base' ? '1.00 ×' : ratioText(variant.rpsRatio),
          variant.cpuMicrosPerRequest.toFixed(1),
          variant.latencyMs.p99.toFixed(1),
          variant.rssMiB.toFixed(0),
        ]
      : ['skipped', '–', '–', '–']),
  ]);
  return [
    '**`threads-2`**, 64 connections, two threads or processes; nothing is pinned, and the load uses its share of the cores:',
    table(['', 'requests/s', 'CPU µs per request', 'p99 ms', 'RSS MiB'], rows),
  ].join('\n\n');
}

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
  return `**Resident set with ${connections} idle connections**, MiB:\n\n${table(['', ...names.map(named)], rows)}`;
}

function loadsOf(
  { groups = [] }: BenchResult,
  has: (group: GroupFacts) => boolean = () => true,
): string[] {
  const there = new Set(groups.filter(has).map(({ name }) => name));
  return Object.keys(loads).filter((load) => there.has(load));
}

function absent({ variants }: BenchResult, contender: string, load: string): string {
  return variants.some(({ name }) => name === `${contender}/${load}`) ? 'skipped' : '–';
}

function find(result: BenchResult, contender: string, load: string): IdleVariant | undefined {
  return measured(result, `${contender}/${load}`);
}

function named(name: string): string {
  return /redline|runThreads/.test(name) ? `**${name}**` : name;
}

function within(low: number, high: number): string {
  return low === high ? '' : ` [${low.toFixed(1)}, ${high.toFixed(1)}]`;
}

function describeRun(run: BenchResult): string {
  const noise = run.groups!.map(
    ({ name, precision }) => `${name} ± ${(precision.rpsBand * 100).toFixed(0)} %`,
  );
  const skipped = run.variants.flatMap((variant) =>
    isMeasured(variant) ? [] : [`\`${variant.name}\` ${variant.skipped}`],
  );
  return [
    'A GET returns 593 bytes of JSON, POST bodies are parsed, and `short` closes a connection after ten requests.',
    'Where the load saturates before the server, its figure is a lower bound; CPU per request is not.',
    'Loopback says nothing about a network, and these small handlers say nothing about yours.',
    `A/A noise in requests per second: ${noise.join(', ')}.`,
    ...(skipped.length === 0 ? [] : [`Skipped: ${skipped.join('; ')}.`]),
    `${measuredOn(run)}. ${rawData(`http/${fileOf(run)}`)}`,
  ].join('\n');
}
