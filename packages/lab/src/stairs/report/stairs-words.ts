import type { StageFigures, StairsResult, WhatIf } from '../result.ts';
import { fixed, percent, range, seconds } from '../../report/format.ts';

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

/** Formats bytes in kB; a part of a kB only where it is much of the value. */
export function kilobytes(bytes: number): string {
  const value = bytes / 1_000;
  return fixed(value, Math.abs(value) < 10 ? 1 : 0);
}

/** Formats the collector's share of the request's CPU; empty below a tenth of a per cent. */
export function collectorText({ memory }: Pick<StageFigures, 'memory'>): string {
  return memory === undefined || memory.collectorShare < minCollectorShare
    ? ''
    : fixed(memory.collectorShare * 100, 1);
}

const minCollectorShare = 0.001;

export function allocatedText({ memory }: Pick<StageFigures, 'memory'>): string {
  return memory === undefined ? '' : kilobytes(memory.allocatedBytes.value);
}

/** Names the stage of the app that allocates most, if memory was counted and it is much of it. */
export function memorySentence({ stages, whole }: StairsResult): string | undefined {
  const [top] = stages
    .slice(1)
    .filter((stage) => stage.memory !== undefined)
    .toSorted((a, b) => b.memory!.allocatedBytes.value - a.memory!.allocatedBytes.value);
  if (top === undefined || whole.memory === undefined) return undefined;
  const { allocatedBytes, collectorShare } = whole.memory;
  return `A request allocates ${kilobytes(allocatedBytes.value)} kB, most of the app’s in ${top.name} (${allocatedText(top)} kB); the garbage collector takes ${percent(collectorShare)} of the CPU.`;
}

/** Shorter waits are the event loop's own overhead. */
const minWaitMs = 0.05;

/** Formats a wait in ms; empty for a stage without one. */
export function waitText({ waitingMs: { value } }: StageFigures): string {
  return value < minWaitMs ? '' : fixed(value, value < 10 ? 2 : 0);
}
