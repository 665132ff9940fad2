import { otherNames } from '../job/job-counts.ts';
import type { JobRecord } from './job-record.ts';
import { jobStates, type Segment } from './segment.ts';

/** Jobs of one name for one sink. */
export interface KindCount {
  readonly sink: string;
  readonly job: string;
  jobs: number;
  oldestAtMs: number;
}

/** More than any sink counts. */
const maxKinds = 1_000;

/** Assigns the jobs of a journal that is being read to kinds: ten bytes a job, as a journal may hold millions. */
export class Kinds {
  readonly #kinds: KindCount[] = [];
  readonly #indexes = new Map<string, number>();
  #kindOf = new Uint16Array(1_024);
  #atMs = new Float64Array(1_024);
  #length = 0;

  /** Adds the next job of the journal. */
  see({ sink, job, deferredAtMs }: JobRecord): void {
    if (this.#length === this.#kindOf.length) this.#grow();
    this.#kindOf[this.#length] = this.#indexOf(sink, job);
    this.#atMs[this.#length++] = deferredAtMs;
  }

  /** Returns the waiting jobs of the segments that the jobs were read from. */
  waiting(segments: readonly Segment[]): KindCount[] {
    let seen = 0;
    for (const segment of segments) {
      for (let at = 0; at < segment.length; at++) {
        const state = segment.stateOf(segment.firstJob + at);
        if (state === jobStates.absent) continue;
        if (state === jobStates.waiting) {
          const kind = this.#kinds[this.#kindOf[seen]!]!;
          kind.jobs++;
          kind.oldestAtMs = Math.min(kind.oldestAtMs, this.#atMs[seen]!);
        }
        seen++;
      }
    }
    return this.#kinds.filter(({ jobs }) => jobs > 0);
  }

  #indexOf(sink: string, job: string): number {
    const known = this.#indexes.get(`${sink}\n${job}`);
    if (known !== undefined) return known;
    if (this.#kinds.length >= maxKinds && job !== otherNames) {
      return this.#indexOf(sink, otherNames);
    }
    const index = this.#kinds.push({ sink, job, jobs: 0, oldestAtMs: Infinity }) - 1;
    this.#indexes.set(`${sink}\n${job}`, index);
    return index;
  }

  #grow(): void {
    const kindOf = new Uint16Array(this.#length * 2);
    const atMs = new Float64Array(this.#length * 2);
    kindOf.set(this.#kindOf);
    atMs.set(this.#atMs);
    this.#kindOf = kindOf;
    this.#atMs = atMs;
  }
}
