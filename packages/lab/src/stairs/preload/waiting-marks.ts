import { performance } from 'node:perf_hooks';
import type { WaitingMark } from './protocol.ts';

/** Records when a single request, alone in the server, reached each stage, as the idle time of the event loop so far. */
export class WaitingMarks {
  readonly #marks = new Map<number, number>();
  /** The stage that was reached last, again or for the first time. */
  latest: number | undefined;

  note(stage: number): void {
    this.latest = stage;
    if (!this.#marks.has(stage)) this.#marks.set(stage, performance.eventLoopUtilization().idle);
  }

  all(): WaitingMark[] {
    return [...this.#marks].map(([stage, idleMs]) => ({ stage, idleMs }));
  }
}
