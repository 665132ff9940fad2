import type { Interval, Verdict } from '../../figures.ts';
import type { StageFigures, StairsResult } from '../result.ts';
import { type Axis, linearAxis } from '../../report/axis.ts';
import { columnDecimals, fixed, range } from '../../report/format.ts';

/** A displayed stage: its bar starts where the last one ended. */
export interface StairRow {
  stage: StageFigures;
  fromMicros: number;
  toMicros: number;
  micros: string;
  range: string;
  reading: StairReading;
}

/** `withheld`: the control cannot confirm any verdict. */
export type StairReading = Verdict | 'withheld';

export interface StairFigures {
  rows: StairRow[];
  axis: Axis;
  decimals: number;
  whole: { micros: string; range: string };
  bandText: string;
}

export function stairFigures(result: StairsResult): StairFigures {
  const { stages, whole, precision } = result;
  const intervals = [...stages.map(({ micros }) => micros), whole.micros];
  const decimals = Math.min(2, Math.max(1, columnDecimals(intervals, 1)));
  const trusted = whole.controlVerdict !== 'changed';
  let at = 0;
  const rows = stages.map((stage): StairRow => {
    const fromMicros = at;
    at += stage.micros.value;
    return {
      stage,
      fromMicros,
      toMicros: at,
      ...texts(stage.micros, decimals),
      reading: trusted ? stage.verdict : 'withheld',
    };
  });
  return {
    rows,
    axis: linearAxis([...rows.map(({ toMicros }) => toMicros), whole.micros.high]),
    decimals,
    whole: texts(whole.micros, decimals),
    bandText: `±\u00a0${fixed(precision.bandMicros, 2)}\u00a0µs`,
  };
}

/** Describes the unattributed rest of the sum in a sentence. */
export function unattributed(result: StairsResult, { decimals }: StairFigures): string {
  const rest = result.unattributedMicros;
  const { low, high } = result.whole.micros;
  const isInside = Math.abs(rest) <= (high - low) / 2;
  return `The stages sum to ${fixed(result.sumMicros, decimals)} µs; ${fixed(rest, decimals)} µs is unattributed, ${isInside ? 'inside' : 'outside'} the interval of the whole.`;
}

/** Returns the most expensive stage of the app, without HTTP itself, which the app cannot change. */
export function costliest({ rows }: StairFigures): StairRow | undefined {
  const own = rows.slice(1).filter(({ stage }) => stage.verdict === 'changed');
  return own.toSorted((a, b) => b.stage.micros.value - a.stage.micros.value)[0];
}

function texts(interval: Interval, decimals: number): { micros: string; range: string } {
  return { micros: fixed(interval.value, decimals), range: range(interval, decimals) };
}
