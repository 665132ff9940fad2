import { performance } from 'node:perf_hooks';
import type { WaitingMark } from './protocol.ts';

/** When one request, alone in the server, came to which stage: by the time the event loop has had nothing to do so far. */
export class WaitingMarks {
  readonly #marks = new Map<number, number>();

  note(stage: number): void {
    if (!this.#marks.has(stage)) this.#marks.set(stage, performance.eventLoopUtilization().idle);
  }

  all(): WaitingMark[] {
    return [...this.#marks].map(([stage, idleMs]) => ({ stage, idleMs }));
  }
}
