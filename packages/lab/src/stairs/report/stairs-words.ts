import type { StageFigures, StairsResult, WhatIf } from '../result.ts';
import { fixed, range, seconds } from '../../report/format.ts';

/** Formats `This machine resolves ± 1.8 µs of a request of 199 µs in 45 s.` A smaller cost cannot be distinguished from zero. */
export function stairsResolution({ precision, whole, durationSeconds }: StairsResult): string {
  return `This machine resolves ±\u00a0${fixed(precision.bandMicros, 1)}\u00a0µs of a request of ${fixed(whole.micros.value, 1)}\u00a0µs in ${seconds(durationSeconds)}.`;
}

/** Formats `If verifyToken cost 0 µs: 64.0 µs [63.1, 64.9], 1.09 × the requests [1.08, 1.10], 15 625 rps.` */
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

/** Shorter waits are the event loop's own overhead. */
const minWaitMs = 0.05;

/** Formats a wait in ms; empty for a stage without one. */
export function waitText({ waitingMs: { value } }: StageFigures): string {
  return value < minWaitMs ? '' : fixed(value, value < 10 ? 2 : 0);
}
