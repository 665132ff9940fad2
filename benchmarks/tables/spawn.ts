import {
  type BenchResult,
  isMeasured,
  type MeasuredVariant,
  ratioBetween,
  type SkippedVariant,
} from '@redline/lab';
import { measuredOn, noise, ratioText, rawData, shareOf, table } from './format.ts';

/** Figures that the blocking servers measure of themselves. */
interface BlockingVariant extends MeasuredVariant {
  spawnCallMicros?: { p50: number; p99: number };
  loopDelayMs?: { p99: number };
  mainThreadMicrosPerSpawn?: number;
}

/** Figures that the servers with synchronous children measure of themselves. */
interface SyncVariant extends MeasuredVariant {
  spawnSyncMicros?: { p50: number; p99: number };
}

export interface SpawnArticle {
  source: string;
  machine: string;
  requestsPerSecond: Record<string, number>;
}

/** Separate runs, minutes long. */
export interface SpawnRuns {
  readonly sync: BenchResult;
  /** Runs of one workload each, with only node and posix-spawn as other contenders. */
  readonly close: readonly BenchResult[];
}

/** The tables of packages/child-process/README.md. */
export function spawnTables(
  result: BenchResult,
  { sync, close }: SpawnRuns,
  article: SpawnArticle,
): string {
  return [
    ratioTable(result, article),
    `The article: ${article.source}; ${article.machine}.`,
    '**redline against each of them**, requests per second, block by block:',
    againstTable(result),
    '`posix-spawn` starts children as the main branch of libuv does, on the main thread; Node will do so once it ships that version.',
    ...closeRuns(close),
    '**With 1.5 GiB resident in the server**, `echo hi`:',
    residentTable(result),
    '**Seen from the main thread**, eight spawns for each request:',
    blockingTable(result),
    ...syncSection(sync),
    '**Balancing** of `createPool` with four workers; uneven: every eighth request prints 1.3 MB:',
    balanceTable(result),
    describeRun(result),
    ...describeCloseRuns(close),
    ...(sync === result ? [] : [describeSync(sync)]),
  ].join('\n\n');
}

function ratioTable(result: BenchResult, article: SpawnArticle): string {
  const contenders = contendersOf(result, ['echo', 'cat']);
  return table(
    [
      'one process per request',
      '`echo hi`, article',
      '`echo hi`, here',
      '`cat` 163 KB, article',
      '`cat` 163 KB, here',
      'server CPU µs, `echo` / `cat`',
    ],
    contenders.map((contender) => {
      const [echo, cat] = ['echo', 'cat'].map((workload) => find(result, contender, workload));
      return [
        label(contender, echo ?? cat),
        theirs(article, contender, 'echo'),
        ours(echo),
        theirs(article, contender, 'cat'),
        ours(cat),
        `${cpu(echo)} / ${cpu(cat)}`,
      ];
    }),
  );
}

function againstTable(result: BenchResult): string {
  const workloads = ['echo', 'cat', 'resident'];
  return table(
    ['', ...workloads],
    ['node', 'posix-spawn', 'go', 'rust', 'bun', 'deno'].map((other) => [
      other,
      ...workloads.map((workload) => {
        const pair = { variant: `redline/${workload}`, other: `${other}/${workload}` };
        return ratioText(ratioBetween(result.slices, { ...pair, metric: 'rps' }));
      }),
    ]),
  );
}

/** The short table of the root README. */
export function spawnSummary(result: BenchResult): string {
  const workloads = ['echo', 'cat', 'resident'];
  const head = ['requests/s, Node = 1', '`echo hi`', '`cat` 163 KB', '`echo hi`, 1.5 GiB resident'];
  const contenders = ['node', 'posix-spawn', 'redline', 'go', 'rust', 'bun', 'deno'];
  return table(
    head,
    contenders.map((contender) => [
      contender === 'redline' ? '**redline**' : contender,
      ...workloads.map((workload) => ours(find(result, contender, workload))),
    ]),
  );
}

function residentTable(result: BenchResult): string {
  return table(
    ['', 'requests/s', 'against Node', 'p99 ms'],
    contendersOf(result, ['resident']).map((contender) => {
      const variant = find(result, contender, 'resident')!;
      if (!isMeasured(variant)) return [label(contender, variant), '–', '–', '–'];
      return [
        label(contender, variant),
        variant.rps.toFixed(0),
        ours(variant),
        variant.latencyMs.p99.toFixed(1),
      ];
    }),
  );
}

function blockingTable(result: BenchResult): string {
  return table(
    [
      '',
      '`spawn()` µs, p50',
      '`spawn()` µs, p99',
      'event-loop delay ms, p99',
      'main-thread CPU µs per spawn',
    ],
    contendersOf(result, ['blocking']).map((contender) => {
      const variant = find(result, contender, 'blocking')!;
      const figures = isMeasured(variant) ? (variant as BlockingVariant) : undefined;
      return [
        label(contender, variant),
        rounded(figures?.spawnCallMicros?.p50),
        rounded(figures?.spawnCallMicros?.p99),
        rounded(figures?.loopDelayMs?.p99, 1),
        rounded(figures?.mainThreadMicrosPerSpawn),
      ];
    }),
  );
}

function syncSection(result: BenchResult): string[] {
  const contenders = contendersOf(result, ['sync']);
  if (contenders.length === 0) return [];
  const rows = contenders.map((contender) => {
    const variant = find(result, contender, 'sync')!;
    const micros = isMeasured(variant) ? (variant as SyncVariant).spawnSyncMicros : undefined;
    const base = contender.endsWith('-resident') ? 'node-resident' : 'node';
    const pair = { variant: `${contender}/sync`, other: `${base}/sync` };
    const against = ratioBetween(result.slices, { ...pair, metric: 'rps' });
    return [
      label(contender, variant),
      rounded(micros?.p50),
      rounded(micros?.p99),
      ratioText(shareOf(against)),
    ];
  });
  return [
    "**`spawnSync('true')`**, one for each request of one client; the time of a request against Node's with as much memory:",
    table(['', 'µs, p50', 'µs, p99', 'time'], rows),
  ];
}

function balanceTable(result: BenchResult): string {
  return table(
    ['', 'even work', 'uneven work', 'p99 ms, even / uneven'],
    contendersOf(result, ['balance-even', 'balance-uneven']).map((contender) => {
      const both = ['even', 'uneven'].map((work) => find(result, contender, `balance-${work}`));
      const p99 = both.map((variant) =>
        variant && isMeasured(variant) ? variant.latencyMs.p99.toFixed(1) : '–',
      );
      return [
        `\`${contender.replace('pool-', '')}\``,
        ours(both[0]),
        ours(both[1]),
        p99.join(' / '),
      ];
    }),
  );
}

function describeRun(result: BenchResult): string {
  const { load, groups } = result;
  const noises = groups!
    .map(({ name, precision }) => `${name} ± ${(precision.rpsBand * 100).toFixed(0)} %`)
    .join(', ');
  const fewer = groups!
    .filter((group) => group.load.connections !== load.connections)
    .map((group) => `, ${group.load.connections} for ${group.name}`)
    .join('');
  return `${load.connections} connections${fewer}; requests per second against \`node:child_process\` with 95 % intervals.
A/A noise in requests per second: ${noises}.
Server CPU is without the processes that were started. On two cores the started processes themselves set the limit,
so these ratios say little about machines with many cores.
${measuredOn(result)}. ${rawData('spawn')}`;
}

/** Describes the separate run for spawnSync, minutes long. */
function describeSync(result: BenchResult): string {
  return `\`spawnSync\`, in a run of its own. ${measuredOn(result)}. ${rawData('spawn-sync')}`;
}

/** The table of long runs with one workload and few contenders, which have narrow intervals. */
function closeRuns(runs: readonly BenchResult[]): string[] {
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
function describeCloseRuns(runs: readonly BenchResult[]): string[] {
  return runs.map((run) => {
    const { name } = run.groups![0]!;
    return `\`node\`, \`posix-spawn\` and \`redline\` alone, ${name}. ${measuredOn(run)}; ${noise(run, 'rps')}. ${rawData(`spawn-${name}`)}`;
  });
}

type Variant = MeasuredVariant | SkippedVariant;

function contendersOf({ variants }: BenchResult, workloads: readonly string[]): string[] {
  const names = variants
    .filter(({ group }) => group !== undefined && workloads.includes(group))
    .map(({ name }) => name.split('/')[0]!);
  return [...new Set(names)];
}

function find(result: BenchResult, contender: string, workload: string): Variant | undefined {
  return result.variants.find(({ name }) => name === `${contender}/${workload}`);
}

function label(contender: string, variant: Variant | undefined): string {
  const name = contender.startsWith('redline') ? `**${contender}**` : contender;
  return variant?.note === undefined ? name : `${name}, ${variant.note}`;
}

function theirs({ requestsPerSecond }: SpawnArticle, contender: string, workload: string): string {
  const rps = requestsPerSecond[`${contender}/${workload}`];
  const base = requestsPerSecond[`node/${workload}`]!;
  return rps === undefined ? '–' : `${(rps / base).toFixed(2)} ×`;
}

function ours(variant: Variant | undefined): string {
  if (variant === undefined) return '–';
  if (!isMeasured(variant)) return 'skipped';
  return ratioText(variant.rpsRatio);
}

function cpu(variant: Variant | undefined): string {
  return variant && isMeasured(variant) ? variant.cpuMicrosPerRequest.toFixed(0) : '–';
}

function rounded(value: number | undefined, decimals = 0): string {
  return value === undefined ? '–' : value.toFixed(decimals);
}
