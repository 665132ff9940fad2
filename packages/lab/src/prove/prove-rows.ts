import { isProven, type ProveResult, type ProvenRule, type ProvenRuntime } from './result.ts';
import { type Axis, logAxis } from '../report/axis.ts';
import { type ColumnText, fixed, range } from '../report/format.ts';
import { bandEdges, type Estimate, readingOf } from '../report/reading.ts';

/** One rule on one runtime, the same in every output. */
export interface ProveRow {
  rule: ProvenRule;
  node: string;
  /** The reason why it was not measured. */
  skipped?: string;
  measured?: { runtime: ProvenRuntime; gain: Estimate; text: ColumnText };
}

export interface ProveFigures {
  rows: ProveRow[];
  axis: Axis;
  band: { low: number; high: number };
}

export function proveFigures(result: ProveResult): ProveFigures {
  const rows = result.rules.flatMap((rule) =>
    rule.runtimes.map((runtime): ProveRow => {
      if (!isProven(runtime)) return { rule, node: runtime.node, skipped: runtime.skipped };
      const gain = { ...runtime.ratio, reading: readingOf(runtime.verdict, runtime.ratio, true) };
      return { rule, node: runtime.node, measured: { runtime, gain, text: ratioText(gain) } };
    }),
  );
  const gains = rows.flatMap(({ measured }) => (measured ? [measured.gain] : []));
  const band = bandEdges(result.precision.leastGain);
  const values = gains.flatMap(({ value, low, high }) => [value, low, high]);
  return { rows, band, axis: logAxis([...values, band.low, band.high]) };
}

/** Formats ratios from 0.2 to 100 in one column: three digits each, rather than one number of decimals for all. */
export function ratioText(gain: Estimate): ColumnText {
  const decimals = gain.high < 10 ? 2 : gain.high < 100 ? 1 : 0;
  return { value: fixed(gain.value, decimals), pad: '', range: range(gain, decimals) };
}

/** Formats nanoseconds per call, or µs from a thousand on. */
export function duration(nanos: number): string {
  if (nanos >= 1_000) return `${fixed(nanos / 1_000, nanos >= 10_000 ? 0 : 1)} µs`;
  return `${fixed(nanos, nanos < 10 ? 1 : 0)} ns`;
}
