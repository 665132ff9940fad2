import type { Interval, Verdict } from '../../figures.ts';
import { type Axis, linearAxis } from '../../report/axis.ts';
import { type ColumnText, columnDecimals, fixed, range } from '../../report/format.ts';
import type { Reading } from '../../report/reading.ts';
import type { StageFigures, StairsResult } from '../result.ts';

/** A displayed stage: its bar starts where the last one ended. */
export interface StairRow {
  stage: StageFigures;
  from: number;
  to: number;
  text: ColumnText;
  /** `withheld`: the control cannot confirm any verdict. */
  reading: Verdict | 'withheld';
  /** Mark of the reading: a cost is neither better nor worse. */
  mark: Reading;
}

export interface StairFigures {
  rows: StairRow[];
  axis: Axis;
  decimals: number;
  wholeText: ColumnText;
  bandText: string;
}

export function stairFigures({ stages, whole, precision }: StairsResult): StairFigures {
  const intervals = [...stages.map(({ micros }) => micros), whole.micros];
  const decimals = Math.min(2, Math.max(1, columnDecimals(intervals, 1)));
  const textOf = (interval: Interval): ColumnText => ({
    value: fixed(interval.value, decimals),
    pad: '',
    range: range(interval, decimals),
  });
  let at = 0;
  const rows = stages.map((stage): StairRow => {
    const from = at;
    at += stage.micros.value;
    const reading = whole.controlVerdict === 'changed' ? 'withheld' : stage.verdict;
    const mark = reading === 'changed' ? 'base' : reading;
    return { stage, from, to: at, text: textOf(stage.micros), reading, mark };
  });
  return {
    rows,
    axis: linearAxis([...rows.map(({ to }) => to), whole.micros.high]),
    decimals,
    wholeText: textOf(whole.micros),
    bandText: `±\u00a0${fixed(precision.bandMicros, 2)}\u00a0µs`,
  };
}

/** Returns the stages of the app with a cost, the most expensive first; HTTP itself cannot be changed by the app. */
export function costly({ rows }: StairFigures): StairRow[] {
  return rows
    .slice(1)
    .filter(({ stage }) => stage.verdict === 'changed')
    .toSorted((a, b) => b.stage.micros.value - a.stage.micros.value);
}
