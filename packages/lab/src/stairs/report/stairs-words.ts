import type { StageFigures, StairsResult, WhatIf } from '../result.ts';
import { fixed, range, seconds } from '../../report/format.ts';

/** `If verifyToken cost 0 µs: 64.0 µs [63.1, 64.9], 1.09 × the requests [1.08, 1.10], 15 625 rps.` */
/** `This machine resolves ± 1.8 µs of a request of 199 µs in 45 s.` A smaller cost cannot be distinguished from zero. */
export function stairsResolution({ precision, whole, durationSeconds }: StairsResult): string {
  return `This machine resolves ±\u00a0${fixed(precision.bandMicros, 1)}\u00a0µs of a request of ${fixed(whole.micros.value, 1)}\u00a0µs in ${seconds(durationSeconds)}.`;
}

export function whatIfSentence({ changes, micros, rps, rpsRatio }: WhatIf): string {
  const what = changes
    .map(({ stage, asked, toMicros }) =>
      asked.endsWith('%')
        ? `${stage} cost ${asked.replace('%', ' %')} of what it does`
        : `${stage} cost ${fixed(toMicros, Number.isInteger(toMicros) ? 0 : 1)} µs`,
    )
    .join(' and ');
  return `If ${what}: ${fixed(micros.value, 1)} µs a request ${range(micros, 1)}, ${fixed(rpsRatio.value, 2)} × the requests ${range(rpsRatio, 2)}, ${fixed(rps.value)} rps.`;
}

/** Less than this is the loop's own way of going on. */
const leastWaitMs = 0.05;

/** In ms; empty for a stage that waits for nothing. */
export function waitText({ waitingMs: { value } }: StageFigures): string {
  return value < leastWaitMs ? '' : fixed(value, value < 10 ? 2 : 0);
}
