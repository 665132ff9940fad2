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

/** Describes the rewrite: safe to apply unseen, to be reviewed first, or to be written by hand. */
export function rewriteWords({ rewrite, changesResult }: Advice): string {
  if (rewrite === undefined) return 'by hand';
  if (rewrite.isSafe) return 'safe to fix';
  return changesResult === undefined ? 'review first' : 'changes the result';
}

/** States the sampling error of a share of 1 %, which remains even on a good machine. */
export function samplingText({ profile }: AdviseResult): string {
  const error = 1.96 * Math.sqrt(0.01 * 0.99 * (1 / Math.max(1, profile.samples)));
  return `a share of 1 % is known to ± ${(error * 100).toFixed(2)} %`;
}
