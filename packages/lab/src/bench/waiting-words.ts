import { msText } from '../calls-out/report/call-words.ts';

/** A response that takes this many times its CPU waits for something else. */
const waiting = 3;

/** True if most of the time of a response is spent waiting. */
export function isWaiting(responseMs: number, cpuMicros: number): boolean {
  return Number.isFinite(responseMs) && responseMs * 1_000 >= waiting * cpuMicros;
}

/** Formats `takes 9.0 ms and uses 0.50 ms of CPU`. */
export function waitingText(responseMs: number, cpuMicros: number): string {
  return `takes ${msText(responseMs)} and uses ${msText(cpuMicros / 1_000)} of CPU`;
}
