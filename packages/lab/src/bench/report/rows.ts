import {
  type BenchResult,
  isMeasured,
  type MeasuredVariant,
  type SkippedVariant,
} from '../result.ts';
import type { Comparison, Interval } from '../../figures.ts';
import { type Estimate, type Reading, readingOf } from '../../report/reading.ts';
import { type Trust, trustOf } from './words.ts';

/** `beside`: on a ladder, a variant to compare a rung with that is not a rung itself. */
export type Role = 'base' | 'control' | 'variant' | 'beside';

/** One line of the ladder, the same in every output. */
export interface MeasuredRow {
  role: Role;
  name: string;
  note?: string;
  variant: MeasuredVariant;
  /** × base. */
  rps: Estimate;
  /** µs per request; the interval is the paired ratio's, laid around the base, so that plot and verdict cannot disagree. */
  cpu: Estimate;
  /** Set only if the p99 interval does not touch the base's. */
  p99?: 'better' | 'worse';
  /** True if the server did not fill its core, so more requests would have been possible. */
  rpsIsLowerBound: boolean;
}

export interface SkippedRow {
  role: Role;
  name: string;
  note?: string;
  skipped: string;
}

export type Row = MeasuredRow | SkippedRow;

/** Ladders: a rung against the measured one below it, or a variant beside the ladder against the rung before it. */
export interface StepRow {
  name: string;
  over: string;
  beside: boolean;
  /** True if measured against a variant other than the rung below. */
  apart: boolean;
  fromMicros: number;
  /** CPU of the rung, with the step's own interval. */
  to: Estimate;
  /** µs per request saved; negative when the rung costs more. */
  saved: Estimate;
  cpu: Estimate;
  rps: Estimate;
}

const BUSY_ENOUGH = 0.95;

export function isMeasuredRow(row: Row): row is MeasuredRow {
  return !('skipped' in row);
}

/**
 * Returns the base, the A/A control, then the order of the config, where readers look rows up. Variants beside a ladder come last.
 */
export function rowsOf(result: BenchResult): Row[] {
  const trust = trustOf(result);
  const base = baseOf(result);
  const [first, ...others] = result.variants;
  const isBeside = ({ beside }: MeasuredVariant | SkippedVariant): boolean =>
    beside === true && result.command === 'ladder';
  const row = (variant: MeasuredVariant | SkippedVariant, role: Role): Row =>
    toRow(variant, role, base, trust);
  return [
    ...(first ? [row(first, 'base')] : []),
    row(result.control, 'control'),
    ...others.filter((variant) => !isBeside(variant)).map((variant) => row(variant, 'variant')),
    ...others.filter(isBeside).map((variant) => row(variant, 'beside')),
  ];
}

export function measuredRows(result: BenchResult): MeasuredRow[] {
  return rowsOf(result).filter(isMeasuredRow);
}

/** Returns the rungs from the bottom up, then the variants beside them. */
export function stepsOf(result: BenchResult): StepRow[] {
  const trust = trustOf(result);
  const measured = result.variants.filter(isMeasured);
  const steps = measured.flatMap((variant, index): StepRow[] => {
    if (!variant.step) return [];
    const { over, cpu, rps } = variant.step;
    const below =
      measured.findLast((other, at) => at < index && other.name === over) ?? measured[index - 1];
    if (!below) return [];
    const fromMicros = below.cpuMicrosPerRequest;
    const reading = readingOf(cpu.verdict, cpu.ratio, trust.cpu);
    return [
      {
        name: variant.name,
        over,
        beside: variant.beside === true,
        apart: measured.findLast((other, at) => at < index && !other.beside)?.name !== over,
        fromMicros,
        to: { ...micros(fromMicros, cpu.ratio), reading },
        saved: { ...savedMicros(below, cpu.ratio), reading },
        cpu: estimate(cpu, reading),
        rps: estimate(rps, readingOf(rps.verdict, rps.ratio, trust.rps)),
      },
    ];
  });
  return [...steps.filter(({ beside }) => !beside), ...steps.filter(({ beside }) => beside)];
}

export function baseOf(result: BenchResult): MeasuredVariant | undefined {
  const [first] = result.variants;
  return first && isMeasured(first) ? first : undefined;
}

/** Returns the farthest distance of the A/A control's interval from 1, as a fraction. */
export function noiseOf(result: BenchResult): { cpu: number; rps: number } | undefined {
  const { control } = result;
  if (!isMeasured(control)) return undefined;
  const reach = (ratio: Interval): number =>
    Math.max(Math.abs(ratio.high - 1), Math.abs(1 - ratio.low));
  return { cpu: reach(control.cpuRatio), rps: reach(control.rpsRatio) };
}

function toRow(
  variant: MeasuredVariant | SkippedVariant,
  role: Role,
  base: MeasuredVariant | undefined,
  trust: Trust,
): Row {
  const { name, note } = variant;
  if (!isMeasured(variant)) return { role, name, note, skipped: variant.skipped };
  // Never withheld for the control: if it fails, its own verdict is the finding.
  const held = role === 'control' ? { cpu: true, rps: true } : trust;
  const cpuReading =
    role === 'base' ? 'base' : readingOf(variant.cpuVerdict, variant.cpuRatio, held.cpu);
  const rpsReading =
    role === 'base' ? 'base' : readingOf(variant.rpsVerdict, variant.rpsRatio, held.rps);
  const baseMicros =
    base?.cpuMicrosPerRequest ?? variant.cpuMicrosPerRequest * variant.cpuRatio.value;
  return {
    role,
    name,
    note: note ?? (role === 'control' ? 'A/A control' : undefined),
    variant,
    rps: {
      ...variant.rpsRatio,
      reading: rpsReading,
      restartsToSettle: variant.rpsRestartsToSettle,
    },
    cpu: {
      ...micros(baseMicros, variant.cpuRatio),
      value: variant.cpuMicrosPerRequest,
      reading: cpuReading,
      restartsToSettle: variant.cpuRestartsToSettle,
    },
    p99:
      role !== 'base' && role !== 'control' && base && trust.cpu
        ? p99Reading(variant, base)
        : undefined,
    rpsIsLowerBound: variant.serverBusy < BUSY_ENOUGH,
  };
}

/**
 * Returns the µs per request that a ratio saves of the CPU of `from`, which is itself uncertain: the two errors are combined as the
 * sides of a right angle, separately at each end (Donner and Zou 2010).
 */
export function savedMicros(from: MeasuredVariant, ratio: Interval): Interval {
  const { cpuMicrosPerRequest: base, cpuMicrosInterval: own } = from;
  const saved = (by: number): number => base * (1 - 1 / by);
  const value = saved(ratio.value);
  const share = 1 - 1 / ratio.value;
  const known = own ?? { low: base, high: base };
  const ofBase = [share * (known.low - base), share * (known.high - base)];
  return {
    value,
    low: value - Math.hypot(value - saved(ratio.low), Math.min(...ofBase)),
    high: value + Math.hypot(saved(ratio.high) - value, Math.max(...ofBase)),
  };
}

function micros(from: number, ratio: Interval): Interval {
  return { value: from / ratio.value, low: from / ratio.high, high: from / ratio.low };
}

function estimate(comparison: Comparison, reading: Reading): Estimate {
  return { ...comparison.ratio, reading, restartsToSettle: comparison.restartsToSettle };
}

function p99Reading(
  variant: MeasuredVariant,
  base: MeasuredVariant,
): 'better' | 'worse' | undefined {
  // A single restart gives a p99 without an interval: nothing can be disjoint from it.
  if (![variant, base].every(({ latencyMs }) => hasWidth(latencyMs))) return undefined;
  if (variant.latencyMs.p99High < base.latencyMs.p99Low) return 'better';
  if (variant.latencyMs.p99Low > base.latencyMs.p99High) return 'worse';
  return undefined;
}

export function hasWidth({ p99Low, p99High }: MeasuredVariant['latencyMs']): boolean {
  return p99High > p99Low;
}
