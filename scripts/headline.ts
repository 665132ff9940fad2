// The first table of the root README: one figure for each capability, out of the result files.
import {
  type BenchResult,
  type Interval,
  isMeasured,
  type MeasuredVariant,
  ratioBetween,
} from '@redline/lab';
import { headlineNode } from './frameworks-table.ts';
import { table } from './markdown-table.ts';
import { byModel, type OnModel } from './runs-by-model.ts';

export interface Results {
  ladder: BenchResult;
  /** A run of each processor model. */
  frameworks: readonly BenchResult[];
  defer?: BenchResult | undefined;
  /** The long runs of few contenders: their intervals are narrow. */
  spawnEcho?: BenchResult | undefined;
  spawnResident?: BenchResult | undefined;
  legacy?: BenchResult | undefined;
}

/** One comparison that the project is known by. */
export interface Figure {
  /** The comparison, in Markdown. */
  change: string;
  ratio: Interval;
  /** Where the ratio was measured on several models: each of them, the lowest first. */
  models?: readonly OnModel[];
  unit: 'requests/s' | 'less CPU';
  /** The same against Node as it will be when its libuv starts children with posix_spawn. */
  againstPosixSpawn?: Interval | undefined;
  /** The command that measures it. */
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

/** What was measured, and nothing of what was not. */
export function figuresOf(results: Results): Partial<Record<FigureName, Figure>> {
  const { ladder, frameworks, defer, spawnEcho, spawnResident, legacy } = results;
  const all: Record<FigureName, Figure | undefined> = {
    ladder: rps(find(ladder, '05-engine'), {
      change: 'Nest on Express → rung 05 of [the ladder](examples/cached-api)',
      command: 'npm start',
    }),
    engine: rps(find(ladder, '09-engine'), {
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
    defer: rps(find(defer, 'express-memory/redis-local/c100'), {
      change: 'an interceptor that adds a job → [`@redline/defer`](packages/defer)',
      command: 'npm run bench -- defer',
    }),
    spawn: rps(find(spawnEcho, 'redline/echo'), {
      change: 'one `echo` a request → [`@redline/child-process`](packages/child-process)',
      command: 'npm run bench -- spawn',
      againstPosixSpawn: againstPosixSpawn(spawnEcho, 'echo'),
    }),
    resident: rps(find(spawnResident, 'redline/resident'), {
      change: 'the same in a server with 1.5 GiB resident',
      command: 'npm run bench -- spawn',
      againstPosixSpawn: againstPosixSpawn(spawnResident, 'resident'),
    }),
    twin: cpu(find(legacy, 'twin on node 24'), {
      change: 'an old server → [its twin](examples/legacy-http), changed where it pointed',
      command: 'npx @redline/lab ladder benchmarks/scenarios/legacy.ts',
    }),
  };
  return Object.fromEntries(Object.entries(all).filter(([, figure]) => figure !== undefined));
}

/** What a row is an example of. The first row of each has its name. */
const capabilities: Record<FigureName, string> = {
  ladder: 'answer fast',
  engine: 'answer fast',
  express: 'answer fast',
  fastify: 'answer fast',
  defer: 'answer first, work after',
  spawn: 'start processes fast',
  resident: 'start processes fast',
  twin: 'know why it is slow',
};

export function headline(results: Results): string {
  let last = '';
  const rows = Object.entries(figuresOf(results)).map(([name, figure]) => {
    const { change, unit, againstPosixSpawn: against, command } = figure;
    const capability = capabilities[name as FigureName];
    const isFirst = capability !== last;
    last = capability;
    return [
      isFirst ? `**${capability}**` : '',
      change,
      `${gainText(figure)} ${unit}${against === undefined ? '' : `, ${times(against)} against posix_spawn`}`,
      `\`${command}\``,
    ];
  });
  return `${table(['', 'from → to', 'gain', 'reproduce'], rows)}

${nodesOf(results)}; 95 % intervals in brackets. A range is over processor models: [what decides it](packages/http/README.md).`;
}

/** `2.1 × on A to 3.4 × on B`, or the one ratio there is. */
export function gainText({ ratio, models = [] }: Figure): string {
  const [lowest] = models;
  const highest = models.at(-1);
  if (lowest === undefined || highest === undefined || lowest === highest) return times(ratio);
  const on = (each: OnModel): string => `${times(each.ratio)} on ${each.model}`;
  return `${on(lowest)} to ${on(highest)}`;
}

type Words = Omit<Figure, 'ratio' | 'models' | 'unit'>;

function onModels(
  runs: readonly BenchResult[],
  framework: string,
  words: Words,
): Figure | undefined {
  const name = `${framework}-redline/${headlineNode}`;
  const models = byModel(runs, (run) => find(run, name)?.rpsRatio);
  const [lowest] = models;
  return lowest && { ...words, ratio: lowest.ratio, models, unit: 'requests/s' };
}

function rps(variant: MeasuredVariant | undefined, words: Words): Figure | undefined {
  return variant && { ...words, ratio: variant.rpsRatio, unit: 'requests/s' };
}

/** Of the step over the rung below: the original on the same Node. */
function cpu(variant: MeasuredVariant | undefined, words: Words): Figure | undefined {
  return variant?.step && { ...words, ratio: variant.step.cpu.ratio, unit: 'less CPU' };
}

/** Figures of two Nodes are not one figure. */
function nodesOf({ ladder, defer, spawnEcho, spawnResident }: Results): string {
  const measured = [ladder, defer, spawnEcho, spawnResident].filter((each) => each !== undefined);
  const majors = new Set(measured.map(({ machine }) => machine.node.slice(1).split('.', 1)[0]));
  if (majors.size > 1) {
    throw new Error(`The figures are of Node ${[...majors].join(' and ')}. Measure all on one.`);
  }
  return `Node ${[...majors].join()}, \`frameworks\` Node ${headlineNode.slice('node'.length)}`;
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

function find(result: BenchResult | undefined, name: string): MeasuredVariant | undefined {
  const variant = result?.variants.find((each) => each.name === name);
  return variant !== undefined && isMeasured(variant) ? variant : undefined;
}
