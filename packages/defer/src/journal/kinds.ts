import type { JobRecord } from './job-record.ts';
import { jobStates, type Segment } from './segment.ts';

/** Jobs of one name for one sink. */
export interface KindCount {
  readonly sink: string;
  readonly job: string;
  jobs: number;
  oldestAtMs: number;
}

/** Which jobs of a journal that is being read are of which kind. */
export class Kinds {
  readonly #kinds = new Map<string, KindCount>();
  readonly #seen: { readonly kind: KindCount; readonly number: number; readonly atMs: number }[] =
    [];

  see(number: number, { sink, job, deferredAtMs: atMs }: JobRecord): void {
    const name = `${sink}\n${job}`;
    let kind = this.#kinds.get(name);
    if (kind === undefined) {
      kind = { sink, job, jobs: 0, oldestAtMs: Infinity };
      this.#kinds.set(name, kind);
    }
    this.#seen.push({ kind, number, atMs });
  }

  /** Those of them that wait. */
  waiting(segments: readonly Segment[]): KindCount[] {
    let at = 0;
    for (const segment of segments) {
      const end = segment.firstJob + segment.length;
      for (; at < this.#seen.length && this.#seen[at]!.number < end; at++) {
        const { kind, number, atMs } = this.#seen[at]!;
        if (segment.stateOf(number) !== jobStates.waiting) continue;
        kind.jobs++;
        kind.oldestAtMs = Math.min(kind.oldestAtMs, atMs);
      }
    }
    return [...this.#kinds.values()].filter(({ jobs }) => jobs > 0);
  }
}
