import type { Advice, AdviseResult } from './result.ts';
import { type Axis, logAxis } from '../report/axis.ts';
import type { ColumnText } from '../report/format.ts';
import { ratioText } from '../prove/prove-rows.ts';
import type { Estimate } from '../report/reading.ts';

/** One piece of advice, the same in every output. */
export interface AdviseRow {
  advice: Advice;
  gain: Estimate;
  text: ColumnText;
  place: string;
}

export interface AdviseFigures {
  rows: AdviseRow[];
  axis: Axis;
}

export function adviseFigures({ advice }: AdviseResult): AdviseFigures {
  const rows = advice.map((each): AdviseRow => {
    const gain: Estimate = { ...each.gain, reading: 'better' };
    return { advice: each, gain, text: ratioText(gain), place: `${each.file}:${each.line}` };
  });
  return { rows, axis: logAxis(rows.flatMap(({ gain }) => [gain.low, gain.high])) };
}

/** What the reader is free to do: take it unseen, review first, or write it. */
export function rewriteWords({ rewrite, changesResult }: Advice): string {
  if (rewrite === undefined) return 'by hand';
  if (rewrite.isSafe) return 'safe to fix';
  return changesResult === undefined ? 'review first' : 'changes the result';
}

/** Where the result can be found wrong even by a good machine. */
export function samplingText({ profile }: AdviseResult): string {
  const error = 1.96 * Math.sqrt(0.01 * 0.99 * (1 / Math.max(1, profile.samples)));
  return `a share of 1 % is known to ± ${(error * 100).toFixed(2)} %`;
}
