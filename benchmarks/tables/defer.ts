import { type BenchResult, isMeasured, type MeasuredVariant, ratioBetween } from '@redline/lab';
import { isThere, latencyMs, platforms, rpm, sinks, ways } from './defer-rows.ts';
import { measured, measuredOn, noise, picture, ratioText, rawData, span, table } from './format.ts';

/** The tables of packages/defer/README.md. */
export function deferSummary(result: BenchResult): string {
  return [
    'Requests per second at 100 connections, against the same route with the job awaited in the handler, and with the',
    "article's interceptor. The route without a job is the upper limit for any route with one: where it is not much faster than",
    'the one that waits, there is little left to gain.',
    '',
    summaryTable(result),
    '',
    ...costs(result),
    ...added(result),
    'Bringing jobs to a local Redis, 500 with each request, four requests at a time:',
    '',
    producerTable(result),
    '',
    ...outage(result),
    describeRun(result),
  ].join('\n');
}

/** The chart of the root README. */
export function deferShort(): string {
  return picture(
    'docs/charts/defer',
    'Requests per minute and latency of each level against an interceptor',
  );
}

/** Empty unless the groups with server and load in turns were measured. */
function costs(result: BenchResult): string[] {
  if (!isThere(result, 'fastify-plain/none/cpu')) return [];
  const rows = Object.entries(platforms).flatMap(([platform, name]) => {
    const plain = measured(result, `${platform}-plain/none/cpu`);
    if (plain === undefined) return [];
    const control = controlOf(result, `${platform}-cpu`);
    const cells = (way: string): string[] =>
      ['none', 'redis-local'].map((sink) => {
        const own = measured(result, `${platform}-${way}/${sink}/cpu`);
        return own === undefined ? '–' : cpuAbove(plain, own);
      });
    return [
      ...ways.map((way) => [`${name}, ${way}`, ...cells(way)]),
      ...['process', 'disk']
        .filter((way) => isThere(result, `${platform}-${way}-sealed/none/cpu`))
        .map((way) => [`${name}, ${way}, sealed`, ...cells(`${way}-sealed`)]),
      [`${name}, a second one without a job`, control && cpuAbove(plain, control), '–'],
    ].map((row) => row.map((cell) => cell ?? '–'));
  });
  return [
    'What a job costs the server, in µs of CPU per request, compared with the route without one. The first column is the call',
    'and its bookkeeping, for a sink that does nothing; the second includes the CPU of the Redis client. Server and',
    'load take turns on one core for this: on two cores, the cost of waking the load and the effects of the other core',
    'vary more from one second to the next than a job costs. The last line of each shows the resolution of this method.',
    '',
    table(['', 'a sink that does nothing', 'BullMQ, local Redis'], rows),
    '',
  ];
}

function cpuAbove(plain: MeasuredVariant, own: MeasuredVariant): string {
  return (own.cpuMicrosPerRequest - plain.cpuMicrosPerRequest).toFixed(1);
}

/** Returns the second measurement of the group's baseline. */
function controlOf({ groups = [] }: BenchResult, name: string): MeasuredVariant | undefined {
  const control = groups.find((group) => group.name === name)?.control;
  return control !== undefined && isMeasured(control) ? control : undefined;
}

/** Measured separately: other groups can be measured without it. */
function outage(result: BenchResult): string[] {
  if (!result.variants.some(({ group }) => group === 'outage')) return [];
  return ['Without any Redis, 100 connections:', '', outageTable(result), ''];
}

/** Empty unless the groups with a fixed rate were measured. */
function added(result: BenchResult): string[] {
  const there = Object.keys(sinks).filter((sink) => isThere(result, `fastify-plain/${sink}/rate`));
  if (there.length === 0) return [];
  const addedBy = (platform: string, way: string, sink: string): string => {
    const plain = measured(result, `${platform}-plain/${sink}/rate`);
    const own =
      way === 'plain'
        ? controlOf(result, `${platform}-${sink}-rate`)
        : measured(result, `${platform}-${way}/${sink}/rate`);
    if (own === undefined || plain === undefined) return '–';
    return ((own.latencyMs.p50 - plain.latencyMs.p50) * 1_000).toFixed(0);
  };
  const rows = Object.entries(platforms).flatMap(([platform, name]) =>
    ['memory', 'process', 'disk', 'plain'].map((way) => [
      `${name}, ${way === 'plain' ? 'a second one without a job' : way}`,
      ...there.map((sink) => addedBy(platform, way, sink)),
    ]),
  );
  return [
    'What a job adds to the median latency at 2,000 requests per second, in µs, compared with the route without one:',
    '',
    table(['', ...there.map((sink) => sinks[sink]!)], rows),
    '',
  ];
}

function summaryTable(result: BenchResult): string {
  const head = [
    '',
    'local Redis, × blocking',
    '× interceptor',
    'Redis 10 ms away, × blocking',
    '× interceptor',
  ];
  const rows = Object.entries(platforms).flatMap(([platform, name]) =>
    [...ways, 'plain'].map((way) => [
      `${name}, ${way === 'plain' ? 'without a job' : way}`,
      ...['redis-local', 'redis-10ms'].flatMap((sink) =>
        ['blocking', 'interceptor'].map((base) =>
          against(result, `${platform}-${way}/${sink}/c100`, `${platform}-${base}/${sink}/c100`),
        ),
      ),
    ]),
  );
  return table(head, rows);
}

function producerTable(result: BenchResult): string {
  const rows = result.variants
    .filter(({ group }) => group === 'producers')
    .map((variant) => [
      variant.note ?? variant.name,
      ...(isMeasured(variant)
        ? [
            (variant.rps * 500).toFixed(0),
            against(result, variant.name, 'add/producers'),
            (variant.cpuMicrosPerRequest / 500).toFixed(1),
          ]
        : ['–', '–', '–']),
    ]);
  return table(['', 'jobs/s', "× BullMQ's add", 'CPU µs per job'], rows);
}

function outageTable(result: BenchResult): string {
  const rows = result.variants
    .filter(({ group }) => group === 'outage')
    .map((variant) => [
      variant.name.split('/')[0]!,
      ...(isMeasured(variant)
        ? [rpm(variant), latencyMs(variant, 100), variant.rssMiB.toFixed(0)]
        : ['–', '–', '–']),
    ]);
  return table(['', 'RPM', 'ms', 'RSS, MiB'], rows);
}

function describeRun(result: BenchResult): string {
  const { groups = [] } = result;
  const isGrid = ({ name }: { readonly name: string }): boolean => /-c\d+$/.test(name);
  const others = groups
    .filter((group) => !isGrid(group))
    .map(({ precision }) => precision.restarts);
  const beside = others.length === 0 ? '' : ` (restarts beside the grid: ${span(others)})`;
  return [
    `${measuredOn({ ...result, groups: groups.filter(isGrid) })}${beside}; ${noise(result, 'rps')}.`,
    'Latency is that of the closed loop, connections ÷ requests per second. Redis shares the two cores with the server and the load,',
    'so the work of Redis itself for a job counts here as well; on a machine with more cores the gaps differ.',
    'The whole grid, for six sinks: [examples/deferred-work](../../examples/deferred-work/README.md#the-grid).',
    rawData('defer'),
  ].join('\n');
}

function against(result: BenchResult, name: string, other: string): string {
  if (name === other) return '1';
  return ratioText(ratioBetween(result.slices, { variant: name, other, metric: 'rps' }));
}
