// The first table of the root README: one figure for each capability, out of the result files.
import {
  type BenchResult,
  type Interval,
  isMeasured,
  type MeasuredVariant,
  ratioBetween,
} from '@redline/lab';
import { table } from './markdown-table.ts';

export interface Results {
  ladder: BenchResult;
  frameworks?: BenchResult | undefined;
  defer?: BenchResult | undefined;
  spawn?: BenchResult | undefined;
  legacy?: BenchResult | undefined;
}

/** Rows of what was measured, and nothing of what was not. */
export function headline({ ladder, frameworks, defer, spawn, legacy }: Results): string {
  const rows = [
    row(
      `Nest on Express with nestjs-pino and CacheInterceptor → rung 05 of the [ladder](#one-nest-api-rung-by-rung)${onNode(ladder)}`,
      rpsOf(find(ladder, '05-engine')),
      'npm start',
    ),
    row(
      'Express 5 → Express 5 on [`@redline/http`](packages/http), unchanged, Node 24',
      rpsOf(find(frameworks, 'express5-redline/node24')),
      'npm run bench -- frameworks',
    ),
    row(
      'Fastify → Fastify on `@redline/http`, Node 24',
      rpsOf(find(frameworks, 'fastify-redline/node24')),
      'npm run bench -- frameworks',
    ),
    row(
      `an interceptor that adds a BullMQ job → [\`@redline/defer\`](packages/defer), on Express${onNode(defer)}`,
      rpsOf(find(defer, 'express-memory/redis-local/c100')),
      'npm run bench -- defer',
    ),
    row(
      `\`node:child_process\` → [\`@redline/child-process\`](packages/child-process), one \`echo\` for each request${onNode(spawn)}`,
      withPosixSpawn(spawn, 'echo'),
      'npm run bench -- spawn',
    ),
    row(
      'the same in a server with 1.5 GiB resident',
      withPosixSpawn(spawn, 'resident'),
      'npm run bench -- spawn',
    ),
    row(
      'an old server → [its twin](examples/legacy-http), changed where `redline` pointed, Node 24',
      cpuOf(find(legacy, 'twin on node 24')),
      'npx @redline/lab ladder benchmarks/scenarios/legacy.ts',
    ),
  ].filter((each) => each !== undefined);
  return table(['change', 'measured', 'reproduce'], rows);
}

function row(change: string, figure: string | undefined, command: string): string[] | undefined {
  return figure === undefined ? undefined : [change, figure, `\`${command}\``];
}

function rpsOf(variant: MeasuredVariant | undefined): string | undefined {
  return variant && `${times(variant.rpsRatio)} requests/s`;
}

/** Figures of two Nodes are not one figure. */
function onNode(result: BenchResult | undefined): string {
  return result === undefined ? '' : `, Node ${result.machine.node.slice(1).split('.', 1)[0]}`;
}

/** Against Node, and against Node as it will be when its libuv starts children with posix_spawn. */
function withPosixSpawn(spawn: BenchResult | undefined, workload: string): string | undefined {
  const figure = rpsOf(find(spawn, `redline/${workload}`));
  const against =
    spawn &&
    ratioBetween(spawn.slices, {
      variant: `redline/${workload}`,
      other: `posix-spawn/${workload}`,
      metric: 'rps',
    });
  return figure === undefined || against === undefined
    ? figure
    : `${figure}, ${times(against)} against posix_spawn`;
}

/** Of the step over the rung below: the original on the same Node. */
function cpuOf(variant: MeasuredVariant | undefined): string | undefined {
  return variant?.step && `${times(variant.step.cpu.ratio)} less CPU`;
}

function times({ value, low, high }: Interval): string {
  return `**${digits(value)} ×** [${digits(low)}, ${digits(high)}]`;
}

function digits(value: number): string {
  return value.toFixed(value >= 20 ? 0 : 1);
}

function find(result: BenchResult | undefined, name: string): MeasuredVariant | undefined {
  const variant = result?.variants.find((each) => each.name === name);
  return variant !== undefined && isMeasured(variant) ? variant : undefined;
}
