import type { BenchResult } from '../result.ts';
import type { Interval } from '../../figures.ts';
import { type Axis, linearAxis, logAxis } from '../../report/axis.ts';
import { type ColumnText, columnDecimals, estimateColumn } from '../../report/format.ts';
import { bandEdges, type Estimate } from '../../report/reading.ts';
import {
  baseOf,
  isMeasuredRow,
  type MeasuredRow,
  type Row,
  rowsOf,
  type StepRow,
  stepsOf,
} from './rows.ts';

/** The figures of a run, the same in every output: axes and precisions depend on all rows together. */
export interface Figures {
  rows: Row[];
  measured: MeasuredRow[];
  steps: StepRow[];
  rps: Map<Row, ColumnText>;
  cpu: Map<Row, ColumnText>;
  stepTexts: Map<StepRow, { saved: ColumnText; cpu: ColumnText; rps: ColumnText }>;
  cpuDecimals: number;
  savedDecimals: number;
  latencyDecimals: number;
  rpsAxis: Axis;
  cpuAxis: Axis;
  rpsBand: { low: number; high: number };
  /** As ratios. */
  cpuEdges: { low: number; high: number };
  /** In µs, around the base. Absent without a measured base. */
  cpuBand?: { low: number; high: number };
  baseMicros?: number;
  hasMainThread: boolean;
}

export function figuresOf(result: BenchResult): Figures {
  const rows = rowsOf(result);
  const measured = rows.filter(isMeasuredRow);
  const steps = result.command === 'ladder' ? stepsOf(result) : [];
  const rps = measured.map((row) => row.rps);
  const cpu = measured.map((row) => row.cpu);
  const rpsBand = bandEdges(result.precision.rpsBand);
  const cpuEdges = bandEdges(result.precision.cpuBand);
  const baseMicros = baseOf(result)?.cpuMicrosPerRequest;
  return {
    rows,
    measured,
    steps,
    rps: textsOf(measured, rps, 2),
    cpu: textsOf(measured, cpu, 1),
    stepTexts: stepTextsOf(steps),
    cpuDecimals: columnDecimals(cpu, 1),
    savedDecimals: columnDecimals(
      steps.map((step) => step.saved),
      1,
    ),
    latencyDecimals: columnDecimals(measured.map(p99Of), 1),
    rpsAxis: logAxis([...axisValues(rps), rpsBand.low, rpsBand.high]),
    cpuAxis: linearAxis(axisValues(cpu)),
    rpsBand,
    cpuEdges,
    ...(baseMicros === undefined
      ? {}
      : {
          baseMicros,
          cpuBand: { low: baseMicros / cpuEdges.high, high: baseMicros / cpuEdges.low },
        }),
    hasMainThread: measured.some((row) => row.variant.mainThreadMicrosPerRequest !== undefined),
  };
}

/** Returns the values that an axis must show: an unresolved whisker may be cut, because its number stays whole. */
export function axisValues(estimates: readonly Estimate[]): number[] {
  return estimates.flatMap(({ value, low, high, reading }) =>
    reading === 'unresolved' ? [value] : [value, low, high],
  );
}

export function p99Of({ variant: { latencyMs } }: MeasuredRow): Interval {
  return { value: latencyMs.p99, low: latencyMs.p99Low, high: latencyMs.p99High };
}

function textsOf(
  rows: readonly Row[],
  estimates: readonly Estimate[],
  fallback: number,
): Map<Row, ColumnText> {
  const texts = estimateColumn(estimates, fallback);
  return new Map(rows.map((row, index) => [row, texts[index] as ColumnText]));
}

function stepTextsOf(steps: readonly StepRow[]): Figures['stepTexts'] {
  const saved = estimateColumn(
    steps.map((step) => step.saved),
    1,
  );
  const cpu = estimateColumn(
    steps.map((step) => step.cpu),
    2,
  );
  const rps = estimateColumn(
    steps.map((step) => step.rps),
    2,
  );
  return new Map(
    steps.map((step, index) => [
      step,
      {
        saved: saved[index] as ColumnText,
        cpu: cpu[index] as ColumnText,
        rps: rps[index] as ColumnText,
      },
    ]),
  );
}
