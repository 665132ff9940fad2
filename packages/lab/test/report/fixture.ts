import type { BenchResult, MeasuredVariant, SkippedVariant } from '../../src/bench/result.ts';
import type { Comparison, Interval } from '../../src/figures.ts';
import { judge } from '../../src/stats/verdict.ts';

export interface Rung {
  name: string;
  note?: string;
  /** CPU, better above 1. */
  cpu?: number;
  rps?: number;
  /** Half-width of both intervals, as a fraction. */
  spread?: number;
  skipped?: string;
  busy?: number;
  beside?: true;
}

export interface Scene {
  command?: 'ladder' | 'bench';
  rungs?: Rung[];
  control?: Partial<MeasuredVariant> | { skipped: string };
  warnings?: string[];
  baseMicros?: number;
  mainThread?: boolean;
  title?: string;
}

const BAND = 0.02;
const BASE_RPS = 14_012;

export const catalogRungs: Rung[] = [
  { name: 'express 4', note: 'node 24' },
  { name: 'express 4, node 26', note: 'needs Node.js 26', cpu: 1.013, rps: 1.01, spread: 0.035 },
  { name: 'express 5', note: 'node 24', cpu: 0.949, rps: 0.95, spread: 0.015 },
  { name: 'express 4 on bun', note: 'bun 1.4', skipped: 'bun is not installed on this machine' },
  { name: 'fastify 5', note: 'node 24', cpu: 1.273, rps: 1.27, spread: 0.018 },
  { name: 'fastify 5 + schema', note: 'node 24', cpu: 1.52, rps: 1.52, spread: 0.02 },
  { name: 'fastify 5 + ajv cache', note: 'node 24', cpu: 1.523, rps: 1.521, spread: 0.009 },
  { name: 'fastify 5 + cached rank', note: 'schema, node 24', cpu: 1.91, rps: 1.9, spread: 0.022 },
  {
    name: 'redline http engine',
    note: 'native, falls back to node:http',
    cpu: 3.46,
    rps: 3.31,
    spread: 0.03,
  },
  {
    name: 'redline response cache',
    note: 'bytes before the framework',
    cpu: 5.93,
    rps: 5.42,
    spread: 0.03,
    busy: 0.82,
  },
  { name: 'go net/http', note: 'the same answer', cpu: 5.2, rps: 5.6, spread: 0.03, beside: true },
];

/** A plausible run. Verdicts follow from the intervals by the rule the reports state. */
export function fixture(scene: Scene = {}): BenchResult {
  const { command = 'ladder', rungs = catalogRungs, baseMicros = 69.5, mainThread = true } = scene;
  const variants = rungs.map((rung, index) => toVariant(rung, index === 0, baseMicros, mainThread));
  if (command === 'ladder') addSteps(variants, rungs);
  const baseline = variants[0]?.name ?? 'base';
  return {
    schema: 1,
    command,
    scenario: 'catalog-api',
    title: scene.title ?? 'Catalog API, GET /feed',
    invocation: `redline ${command} catalog.config.ts --restarts 3 --blocks 12`,
    runId: '7f3a9c',
    redlineVersion: '0.1.0',
    startedAt: '2026-11-20T10:52:31.000Z',
    durationSeconds: 1394,
    baseline,
    machine: {
      cpuModel: 'AMD EPYC 7B13',
      cores: 4,
      memoryGiB: 16,
      kernel: 'Linux 6.12.0 x64',
      node: '24.11.1',
      v8: '13.6.233.10',
      governor: 'not visible',
      virtualisation: 'KVM',
      steal: 0.004,
      pinning: 'server on core 2, load on cores 0–1',
    },
    load: {
      generator: 'wrk 4.1.0',
      threads: 2,
      connections: 64,
      requests: ['GET /feed'],
      openLoopRps: 6000,
    },
    precision: {
      restarts: 3,
      blocks: 12,
      sliceMs: 1500,
      warmupMs: 5000,
      latencyMs: 10_000,
      resamples: 10_000,
      seed: 1,
      cpuBand: BAND,
      rpsBand: BAND,
    },
    control: toControl(scene.control, baseline, baseMicros, mainThread),
    variants,
    warnings: scene.warnings ?? [],
    slices: [
      {
        restart: 1,
        block: 1,
        variant: baseline,
        requests: 21_018,
        seconds: 1.5,
        cpuMicros: 1_460_751,
      },
    ],
  };
}

export function interval(value: number, spread: number): Interval {
  return { value, low: value / (1 + spread), high: value * (1 + spread) };
}

export const extremeRungs: Rung[] = [
  { name: 'base' },
  { name: 'twenty times slower', cpu: 0.05, rps: 0.051, spread: 0.02 },
  { name: 'so noisy that nothing can be said', cpu: 1.4, rps: 1.3, spread: 30 },
  { name: 'eighty times faster', cpu: 80, rps: 78, spread: 0.06 },
];

export const longNames: Rung[] = [
  {
    name: 'a server with a name that goes on for far longer than anyone would want to read in a table',
  },
  {
    name: 'AVeryLongNameWithoutASingleSpaceWhichNoBrowserWouldBreakOnItsOwnAccord',
    note: 'and_a_note_without_a_space_that_is_also_rather_too_long',
    cpu: 1.3,
    rps: 1.28,
    spread: 0.02,
  },
  {
    name: '<script>alert("x")</script> & "quotes" \'too\'',
    note: '<img src=x onerror=alert(1)>',
    cpu: 0.8,
    rps: 0.82,
    spread: 0.02,
  },
  { name: 'короткое имя, 日本語', cpu: 1.1, rps: 1.1, spread: 0.02 },
];

export function manyRungs(count: number): Rung[] {
  return Array.from({ length: count }, (_, index) =>
    index === 0
      ? { name: 'rung 0' }
      : {
          name: `rung ${index}`,
          cpu: 1.06 ** index,
          rps: 1.05 ** index,
          spread: 0.015 + (index % 3) / 40,
        },
  );
}

function toVariant(
  rung: Rung,
  isBase: boolean,
  baseMicros: number,
  mainThread: boolean,
): MeasuredVariant | SkippedVariant {
  const { name, note, cpu = 1, rps = 1, spread = 0.01, skipped, busy = 0.99 } = rung;
  const named = {
    name,
    ...(note === undefined ? {} : { note }),
    ...(rung.beside ? { beside: rung.beside } : {}),
  };
  if (skipped !== undefined) return { ...named, skipped };
  const point = { value: 1, low: 1, high: 1 };
  const cpuRatio = isBase ? point : interval(cpu, spread);
  const rpsRatio = isBase ? point : interval(rps, spread * 1.1);
  const micros = baseMicros / cpu;
  const cpuVerdict = isBase ? 'base' : judge(cpuRatio, { band: BAND });
  const rpsVerdict = isBase ? 'base' : judge(rpsRatio, { band: BAND });
  const p99 = 6.3 / Math.sqrt(cpu);
  return {
    ...named,
    rps: BASE_RPS * rps,
    rpsRatio,
    rpsVerdict,
    ...(rpsVerdict === 'unresolved' ? { rpsRestartsToSettle: 90 } : {}),
    cpuMicrosPerRequest: micros,
    ...(mainThread ? { mainThreadMicrosPerRequest: micros * 0.84 } : {}),
    cpuRatio,
    cpuVerdict,
    ...(cpuVerdict === 'unresolved' ? { cpuRestartsToSettle: 140 } : {}),
    verdict: cpuVerdict,
    latencyMs: { p50: p99 * 0.62, p99, p99Low: p99 * 0.96, p99High: p99 * 1.05 },
    rssMiB: 92 + 9 * Math.log2(Math.max(0.5, cpu)),
    serverBusy: busy,
  };
}

function addSteps(variants: (MeasuredVariant | SkippedVariant)[], rungs: Rung[]): void {
  let below: { variant: MeasuredVariant; rung: Rung } | undefined;
  variants.forEach((variant, index) => {
    const rung = rungs[index];
    if ('skipped' in variant || !rung) return;
    if (below) {
      const spread = Math.hypot(rung.spread ?? 0.01, below.rung.spread ?? 0.01) * 0.8;
      const compare = (metric: 'cpu' | 'rps'): Comparison => {
        const ratio = interval((rung[metric] ?? 1) / (below?.rung[metric] ?? 1), spread);
        const verdict = judge(ratio, { band: BAND });
        return verdict === 'unresolved'
          ? { ratio, verdict, restartsToSettle: 70 }
          : { ratio, verdict };
      };
      variant.step = { over: below.variant.name, cpu: compare('cpu'), rps: compare('rps') };
    }
    if (!rung.beside) below = { variant, rung };
  });
}

function toControl(
  control: Scene['control'],
  baseline: string,
  baseMicros: number,
  mainThread: boolean,
): MeasuredVariant | SkippedVariant {
  const name = `${baseline} again`;
  if (control && 'skipped' in control && typeof control.skipped === 'string')
    return { name, skipped: control.skipped };
  const measured = toVariant(
    { name, note: 'A/A control', cpu: 1.003, rps: 1.002, spread: 0.012 },
    false,
    baseMicros,
    mainThread,
  );
  return { ...(measured as MeasuredVariant), ...control };
}

/** The base reads 4 % better than itself. */
export const failedControl: Partial<MeasuredVariant> = {
  cpuMicrosPerRequest: 69.5 / 1.041,
  cpuRatio: { value: 1.041, low: 1.03, high: 1.052 },
  cpuVerdict: 'changed',
  verdict: 'changed',
};
