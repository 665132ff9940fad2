import type { Plan } from '../config/resolve-plan.ts';
import type { BenchResult, MeasuredVariant, SkippedVariant, Slice } from './result.ts';
import type { Comparison, Interval } from '../figures.ts';
import { isMeasured } from './result.ts';
import { medianInterval, resamples } from '../stats/bootstrap.ts';
import { hodgesLehmann, median } from '../stats/order-statistics.ts';
import { seededRandom, type Random } from '../stats/random.ts';
import { bandOf, compare, judge } from '../stats/verdict.ts';
import { labelsOf } from '../servers/contract.ts';
import { warningsOf } from './guards.ts';
import { medianProbe } from './restart/probe.ts';
import {
  cpuLevel,
  cpuMetric,
  cpuPerRequest,
  pairedRatio,
  rpsMetric,
  type Metric,
} from './paired-ratio.ts';
import { controlName, type Observations } from './observations.ts';

export interface RunFacts {
  command: BenchResult['command'];
  invocation: string;
  runId: string;
  redlineVersion: string;
  startedAt: Date;
  durationSeconds: number;
}

/** Summarises the observations of a run. */
export function summarise(plan: Plan, seen: Observations, facts: RunFacts): BenchResult {
  const random = seededRandom(plan.seed);
  const bands = measureBands(plan, seen, random);
  const run: Run = { plan, seen, bands, random };
  const measure = (name: string): MeasuredVariant | SkippedVariant => summariseVariant(name, run);
  const baselineFirst = plan.variants.toSorted(
    (a, b) => Number(b.name === plan.baseline) - Number(a.name === plan.baseline),
  );
  const variants = baselineFirst.map(({ name }) => measure(name));
  if (facts.command === 'ladder') addSteps(variants, run);
  const control = measure(controlName(plan.baseline));
  if (isMeasured(control)) judgeAsControl(control, plan.margin);
  const { runId, startedAt, ...said } = facts;
  const result: BenchResult = {
    schema: 1,
    scenario: plan.name,
    title: plan.title,
    ...said,
    runId,
    startedAt: startedAt.toISOString(),
    baseline: plan.baseline,
    ...(plan.floor === undefined ? {} : { floor: plan.floor }),
    machine: seen.machine,
    load: {
      generator: seen.generator.name,
      threads: seen.generator.threads,
      connections: plan.connections,
      requests: plan.requestLabel === undefined ? labelsOf(plan.requests) : [plan.requestLabel],
      openLoopRps: seen.openLoopRps,
    },
    precision: {
      ...plan.precision,
      resamples,
      seed: plan.seed,
      margin: plan.margin,
      cpuBand: bands.cpu,
      rpsBand: bands.rps,
    },
    control,
    variants,
    warnings: [],
    slices: seen.slices,
  };
  return { ...result, warnings: warningsOf(result, seen) };
}

interface Bands {
  cpu: number;
  rps: number;
}

/** The source of every figure of a run. */
interface Run {
  plan: Plan;
  seen: Observations;
  bands: Bands;
  random: Random;
}

function measureBands(plan: Plan, seen: Observations, random: Random): Bands {
  const control = controlName(plan.baseline);
  const { margin } = plan;
  if (seen.skipped.has(control)) return { cpu: margin, rps: margin };
  const pairing = { slices: seen.slices, name: control, others: [plan.baseline] };
  const bandFor = (metric: Metric): number => bandOf(pairedRatio(pairing, metric, random), margin);
  return { cpu: bandFor(cpuMetric), rps: bandFor(rpsMetric) };
}

/** Returns the baselines of a variant. The baseline runs twice; its second copy is compared with the first. */
function baselinesFor(name: string, { baseline }: Plan, seen: Observations): string[] {
  const control = controlName(baseline);
  return name === control || seen.skipped.has(control) ? [baseline] : [baseline, control];
}

function summariseVariant(name: string, run: Run): MeasuredVariant | SkippedVariant {
  const { plan, seen } = run;
  const planned = plan.variants.find((variant) => variant.name === name);
  const noted = {
    name,
    ...(plan.group === undefined ? {} : { group: plan.group }),
    ...(planned?.note === undefined ? {} : { note: planned.note }),
    ...(planned?.beside ? { beside: true as const } : {}),
  };
  const reason = seen.skipped.get(name);
  if (reason !== undefined) return { ...noted, skipped: reason };

  const own = seen.slices.filter(({ variant }) => variant === name);
  return {
    ...medianProbe(own.flatMap(({ probe }) => (probe === undefined ? [] : [probe]))),
    ...noted,
    ...compareWithBase(name, run),
    ...floorRatioOf(name, run),
    ...childrenOf(own),
    latencyMs: summariseLatency(name, seen, run.random),
    rssMiB: median(seen.memory.filter((m) => m.variant === name).map((m) => m.rssMiB)),
    serverBusy: median(
      own.map((slice) => (slice.cpuMicros + (slice.endedMicros ?? 0)) / 1e6 / slice.seconds),
    ),
  };
}

/** Divides the floor by the variant, because the metric is better above 1. */
function floorRatioOf(
  name: string,
  { plan, seen, random }: Run,
): Pick<MeasuredVariant, 'floorRatio'> {
  const { floor } = plan;
  if (floor === undefined || seen.skipped.has(floor) || name === floor) return {};
  const pairing = { slices: seen.slices, name: floor, others: [name] };
  return { floorRatio: pairedRatio(pairing, cpuMetric, random) };
}

/** Sums over all slices, because a child may live no longer than a step of the clock. */
function childrenOf(
  own: readonly Slice[],
): Pick<MeasuredVariant, 'endedProcessesMicrosPerRequest'> {
  const endedMicros = own.reduce((sum, slice) => sum + (slice.endedMicros ?? 0), 0);
  const requests = own.reduce((sum, slice) => sum + slice.requests, 0);
  return endedMicros === 0 ? {} : { endedProcessesMicrosPerRequest: endedMicros / requests };
}

type Compared = Pick<
  MeasuredVariant,
  | 'rps'
  | 'rpsRatio'
  | 'rpsVerdict'
  | 'rpsRestartsToSettle'
  | 'cpuMicrosPerRequest'
  | 'cpuMicrosInterval'
  | 'mainThreadMicrosPerRequest'
  | 'cpuRatio'
  | 'cpuVerdict'
  | 'cpuRestartsToSettle'
  | 'verdict'
>;

/**
 * Derives absolute figures as the baseline's times the paired ratio, so that drift between blocks cannot make the figure contradict
 * the ratio. The raw slices in the file give the plain medians.
 */
function compareWithBase(name: string, { plan, seen, bands, random }: Run): Compared {
  const { slices } = seen;
  const others = baselinesFor(name, plan, seen);
  const pairing = { slices, name, others };
  const baseRps = typical(slices, others, rpsLevel);
  const baseCpu = typical(slices, others, cpuPerRequest);
  const isBase = name === plan.baseline;
  const exact: Interval = { value: 1, low: 1, high: 1 };
  const rpsRatio = isBase ? exact : pairedRatio(pairing, rpsMetric, random);
  const cpuRatio = isBase ? exact : pairedRatio(pairing, cpuMetric, random);
  const { margin } = plan;
  const restarts = restartsOf(slices, name);
  const rps = compare(rpsRatio, { margin, band: bands.rps }, restarts);
  const cpu = compare(cpuRatio, { margin, band: bands.cpu }, restarts);
  const cpuMicros = baseCpu / cpuRatio.value;
  const level = cpuLevel(slices, isBase ? others : [name], random);
  const mainShare = mainThreadShare(slices.filter(({ variant }) => variant === name));
  return {
    rps: baseRps * rpsRatio.value,
    rpsRatio,
    rpsVerdict: isBase ? 'base' : rps.verdict,
    ...(isBase || rps.restartsToSettle === undefined
      ? {}
      : { rpsRestartsToSettle: rps.restartsToSettle }),
    cpuMicrosPerRequest: cpuMicros,
    cpuMicrosInterval: {
      value: cpuMicros,
      low: (level.low / level.value) * cpuMicros,
      high: (level.high / level.value) * cpuMicros,
    },
    ...(Number.isNaN(mainShare) ? {} : { mainThreadMicrosPerRequest: cpuMicros * mainShare }),
    cpuRatio,
    cpuVerdict: isBase ? 'base' : cpu.verdict,
    ...(isBase || cpu.restartsToSettle === undefined
      ? {}
      : { cpuRestartsToSettle: cpu.restartsToSettle }),
    verdict: isBase ? 'base' : cpu.verdict,
  };
}

/** Returns the share in the CPU of all threads; NaN if the system does not report it. */
function mainThreadShare(own: readonly Slice[]): number {
  return median(
    own
      .flatMap(({ turns, ...slice }) => turns ?? slice)
      .map(({ mainThreadMicros, cpuMicros }) => (mainThreadMicros ?? NaN) / cpuMicros),
  );
}

/** Judges by the margin alone, because the band comes from this very interval. */
function judgeAsControl(control: MeasuredVariant, margin: number): void {
  const bounds = { margin, band: margin };
  control.note = 'A/A control';
  control.rpsVerdict = judge(control.rpsRatio, bounds);
  control.cpuVerdict = judge(control.cpuRatio, bounds);
  control.verdict = control.cpuVerdict;
  delete control.rpsRestartsToSettle;
  delete control.cpuRestartsToSettle;
}

/** Compares each rung with the nearest measured one below, or with the variant that `over` names. */
function addSteps(variants: readonly (MeasuredVariant | SkippedVariant)[], run: Run): void {
  const { plan, seen } = run;
  let below: MeasuredVariant | undefined;
  for (const rung of variants.filter(isMeasured)) {
    const named = plan.variants.find(({ name }) => name === rung.name)?.over;
    const over = named ?? below?.name;
    if (over !== undefined && rung.name !== plan.baseline && !seen.skipped.has(over)) {
      const others = over === plan.baseline ? baselinesFor(rung.name, plan, seen) : [over];
      rung.step = { over, ...stepOver(rung.name, others, run) };
    }
    if (!rung.beside) below = rung;
  }
}

function stepOver(
  name: string,
  others: readonly string[],
  { plan: { margin }, seen: { slices }, bands, random }: Run,
): { cpu: Comparison; rps: Comparison } {
  const restarts = restartsOf(slices, name);
  const against = (metric: Metric, band: number): Comparison =>
    compare(pairedRatio({ slices, name, others }, metric, random), { margin, band }, restarts);
  return { cpu: against(cpuMetric, bands.cpu), rps: against(rpsMetric, bands.rps) };
}

function restartsOf(slices: readonly Slice[], name: string): number {
  return new Set(slices.flatMap(({ variant, restart }) => (variant === name ? restart : []))).size;
}

/** Returns the centre of the levels over all restarts, and over both copies of the baseline. */
function typical(
  slices: readonly Slice[],
  names: readonly string[],
  level: (restart: readonly Slice[]) => number,
): number {
  const restarts = Map.groupBy(
    slices.filter(({ variant }) => names.includes(variant)),
    ({ restart, variant }) => `${restart} ${variant}`,
  );
  return hodgesLehmann([...restarts.values()].map(level));
}

function rpsLevel(slices: readonly Slice[]): number {
  return median(slices.map(({ requests, seconds }) => requests / seconds));
}

function summariseLatency(
  name: string,
  seen: Observations,
  random: Random,
): MeasuredVariant['latencyMs'] {
  const own = seen.latencies.filter(({ variant }) => variant === name);
  const p99s = own.map(({ outcome }) => outcome.p99);
  const p99 = medianInterval(p99s, random);
  return {
    p50: median(own.map(({ outcome }) => outcome.p50)),
    p99: p99.value,
    p99Low: p99.low,
    p99High: p99.high,
    p99s,
  };
}
