// The first table of the root README, from the result files: a need, the package for it, and its gain.
import { type BenchResult, type Interval, type MeasuredVariant, ratioBetween } from '@redline/lab';
import { firstFigure } from './first-screen.ts';
import { headlineNode } from './frameworks.ts';
import { byModel, modelOf, type OnModel } from './runs-by-model.ts';
import { isNarrow, measured, table } from './format.ts';

export interface Results {
  ladder: BenchResult;
  /** One run per processor model. */
  frameworks: readonly BenchResult[];
  defer?: BenchResult | undefined;
  /** The long runs of few contenders, with narrow intervals. */
  spawnEcho?: BenchResult | undefined;
  spawnResident?: BenchResult | undefined;
  legacy?: BenchResult | undefined;
}

/** One of the project's key comparisons. */
export interface Figure {
  /** The comparison, in Markdown. */
  change: string;
  ratio: Interval;
  /** Models on which the ratio was measured, in ascending order of the ratio; set if there are several. */
  models?: readonly OnModel[];
  unit: 'requests/s' | 'less CPU';
  /** The same comparison in CPU per request. */
  cpu?: Interval;
  /** The same comparison against a future Node whose libuv starts children with posix_spawn. */
  againstPosixSpawn?: Interval | undefined;
  command: string;
}

export type FigureName =
  | 'ladder'
  | 'engine'
  | 'express'
  | 'fastify'
  | 'defer'
  | 'spawn'
  | 'resident'
  | 'twin';

/** Returns the figures that were measured. */
export function figuresOf(results: Results): Partial<Record<FigureName, Figure>> {
  const { ladder, frameworks, defer, spawnEcho, spawnResident, legacy } = results;
  const all: Record<FigureName, Figure | undefined> = {
    ladder: rps(measured(ladder, '05-engine'), {
      change: 'Nest on Express → rung 05 of [the ladder](examples/cached-api)',
      command: 'npm start',
    }),
    engine: rps(measured(ladder, '09-engine'), {
      change: 'the same → rung 09, hits from the engine, each with its log line',
      command: 'npm start',
    }),
    express: onModels(frameworks, 'express5', {
      change: 'Express 5 → the same on [`@redline/http`](packages/http)',
      command: 'npm run bench -- frameworks',
    }),
    fastify: onModels(frameworks, 'fastify', {
      change: 'Fastify → the same on `@redline/http`',
      command: 'npm run bench -- frameworks',
    }),
    defer: rps(measured(defer, 'express-disk/redis-10ms/c100'), {
      change: 'an interceptor that adds a job → [`@redline/defer`](packages/defer), level disk',
      command: 'npm run bench -- defer',
    }),
    spawn: rps(measured(spawnEcho, 'redline/echo'), {
      change: 'one `echo` a request → [`@redline/child-process`](packages/child-process)',
      command: 'npm run bench -- spawn',
      againstPosixSpawn: againstPosixSpawn(spawnEcho, 'echo'),
    }),
    resident: rps(measured(spawnResident, 'redline/resident'), {
      change: 'the same in a server with 1.5 GiB resident',
      command: 'npm run bench -- spawn',
      againstPosixSpawn: againstPosixSpawn(spawnResident, 'resident'),
    }),
    twin: cpu(measured(legacy, 'twin on node 24'), {
      change: 'an old server → [its twin](examples/legacy-http), changed where it pointed',
      command: 'npx @redline/lab ladder benchmarks/scenarios/legacy.ts',
    }),
  };
  return Object.fromEntries(Object.entries(all).filter(([, figure]) => figure !== undefined));
}

interface Row {
  readonly have: string;
  readonly use: string;
  readonly figures: readonly { readonly name: FigureName; readonly of?: string }[];
  readonly reproduce: string;
  /** The page with all figures. */
  readonly page: string;
}

const rows: readonly Row[] = [
  {
    have: 'JSON that many clients ask for',
    use: '[`@redline/response-cache`](packages/response-cache), [`@redline/nest`](packages/nest)',
    figures: [
      {
        name: 'engine',
        of: 'than Nest with `CacheInterceptor` and nestjs-pino, each hit logged in both',
      },
    ],
    reproduce: 'npm start',
    page: 'examples/cached-api',
  },
  {
    have: 'logs, mails and queue jobs in handlers',
    use: '[`@redline/defer`](packages/defer)',
    figures: [
      {
        name: 'defer',
        of: 'of `queue.add` in an interceptor, Redis 10 ms away, and each job is on disk before its response',
      },
    ],
    reproduce: 'npm run bench -- defer',
    page: 'packages/defer',
  },
  {
    have: 'child processes',
    use: '[`@redline/child-process`](packages/child-process)',
    figures: [
      { name: 'spawn', of: 'of a server that starts `echo` for each' },
      { name: 'resident', of: 'if it holds 1.5 GiB, which Node’s fork pays for' },
    ],
    reproduce: 'npm run bench -- spawn',
    page: 'packages/child-process',
  },
  {
    have: 'the question why it is slow',
    use: '[`@redline/lab`](packages/lab): `doctor`, `stairs`, `flame`, `ci`',
    figures: [
      {
        name: 'twin',
        of: 'in [an old server](examples/legacy-http) after the changes that they named',
      },
    ],
    reproduce: 'npx @redline/lab ladder benchmarks/scenarios/legacy.ts',
    page: 'examples/legacy-http',
  },
];

/** The table of the first screen: a need, the package for it, and the gain if its interval is narrow. */
export function headline(results: Results): string {
  const all = figuresOf(results);
  const first = firstFigure(results.frameworks);
  const ends = [first.models[0]!, first.models.at(-1)!];
  const http = `requests/s of ${first.title}: ${ends.map(({ model, ratio }) => `${times(ratio)} on ${model}`).join(', ')}`;
  const lines = rows.map(({ have, use, figures, reproduce, page }) => {
    const known = figures.flatMap(({ name, of }) => {
      const text = narrowText(all[name]);
      return text === undefined ? [] : `${text}${of === undefined ? '' : ` ${of}`}`;
    });
    const gain =
      known.length === 0
        ? `[measured](${page}), with intervals too wide for one figure`
        : known.join('; ');
    return [have, use, gain, `\`${reproduce}\``];
  });
  return `${table(
    ['you have', 'use', 'gain', 'reproduce in a clone'],
    [
      [
        'an HTTP/1.1 API: Express, Fastify, Nest, Koa, Hono, plain Node',
        '[`@redline/http`](packages/http)',
        http,
        '`npm run bench -- frameworks`',
      ],
      ...lines,
    ],
  )}

2 cores; 95 % intervals in brackets. ${machinesOf(results)}.`;
}

/** Returns the figure with a narrow interval: requests/s before CPU. */
function narrowText(figure: Figure | undefined): string | undefined {
  if (figure === undefined) return undefined;
  const { ratio, unit, cpu: cpuRatio } = figure;
  if (isNarrow(ratio)) return `${times(ratio)} ${unit}`;
  return cpuRatio !== undefined && isNarrow(cpuRatio) ? `${times(cpuRatio)} less CPU` : undefined;
}

/** Returns `2.1 × on A to 3.4 × on B`, or the only ratio. */
export function gainText({ ratio, models = [] }: Figure): string {
  const [lowest] = models;
  const highest = models.at(-1);
  if (lowest === undefined || highest === undefined || lowest === highest) return times(ratio);
  const on = (each: OnModel): string => `${times(each.ratio)} on ${each.model}`;
  return `${on(lowest)} to ${on(highest)}`;
}

type Words = Omit<Figure, 'ratio' | 'models' | 'unit' | 'cpu'>;

function onModels(
  runs: readonly BenchResult[],
  framework: string,
  words: Words,
): Figure | undefined {
  const name = `${framework}-redline/${headlineNode}`;
  const models = byModel(runs, (run) => measured(run, name)?.rpsRatio);
  const [lowest] = models;
  return lowest && { ...words, ratio: lowest.ratio, models, unit: 'requests/s' };
}

function rps(variant: MeasuredVariant | undefined, words: Words): Figure | undefined {
  const { rpsRatio: ratio, cpuRatio } = variant ?? {};
  return ratio && { ...words, ratio, unit: 'requests/s', cpu: cpuRatio! };
}

/** Returns the step over the rung below: the original on the same Node. */
function cpu(variant: MeasuredVariant | undefined, words: Words): Figure | undefined {
  return variant?.step && { ...words, ratio: variant.step.cpu.ratio, unit: 'less CPU' };
}

/** Says which figures were measured on which Node and processor. */
function machinesOf({ ladder, defer, spawnEcho, spawnResident, legacy }: Results): string {
  const commandsOf = {
    'npm start': [ladder],
    defer: [defer],
    spawn: [spawnEcho, spawnResident],
    legacy: [legacy],
  };
  const commands = new Map<string, string[]>();
  for (const [command, results] of Object.entries(commandsOf)) {
    for (const result of results) {
      if (result === undefined) continue;
      const machine = `Node ${result.machine.node.slice(1).split('.', 1)[0]} on ${modelOf(result)}`;
      const named = commands.get(machine) ?? [];
      if (!named.includes(`\`${command}\``)) commands.set(machine, [...named, `\`${command}\``]);
    }
  }
  return [
    `\`frameworks\`: Node ${headlineNode.slice('node'.length)}`,
    ...[...commands].map(([machine, names]) => `${names.join(', ')}: ${machine}`),
  ].join('; ');
}

function againstPosixSpawn(spawn: BenchResult | undefined, workload: string): Interval | undefined {
  return (
    spawn &&
    ratioBetween(spawn.slices, {
      variant: `redline/${workload}`,
      other: `posix-spawn/${workload}`,
      metric: 'rps',
    })
  );
}

function times({ value, low, high }: Interval): string {
  return `**${digits(value)} ×** [${digits(low)}, ${digits(high)}]`;
}

export function digits(value: number): string {
  return value.toFixed(value >= 20 ? 0 : 1);
}
