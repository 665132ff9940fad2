import { frameKinds } from './frame.ts';
import type { GroupCommit } from './group-commit.ts';

/**
 * The outcomes of jobs since the last write. They go into the same write as new jobs, and never cause a sync: a lost
 * mark is a job sent twice.
 */
export class Marks {
  #done: number[] = [];
  /** Jobs, by the index of the sink that has them. */
  readonly #sent = new Map<number, number[]>();
  readonly #replayed = new Set<number>();
  readonly #tried = new Map<TryMark, number[]>();

  done(job: number): void {
    this.#done.push(job);
  }

  sent(sink: number, job: number): void {
    const jobs = this.#sent.get(sink);
    if (jobs === undefined) this.#sent.set(sink, [job]);
    else jobs.push(job);
  }

  tried(mark: TryMark, job: number): void {
    const jobs = this.#tried.get(mark);
    if (jobs === undefined) this.#tried.set(mark, [job]);
    else jobs.push(job);
  }

  /**
   * Called when all jobs that the sink had acknowledged wait again. Jobs sent in this turn are among them, and their marks
   * must not follow.
   */
  replayed(sink: number): void {
    this.#sent.delete(sink);
    this.#replayed.add(sink);
  }

  addTo(
    commit: GroupCommit,
    sinks: readonly string[],
    generations: Readonly<Record<string, string>>,
  ): void {
    const isEmpty =
      this.#replayed.size + this.#done.length + this.#sent.size + this.#tried.size === 0;
    if (isEmpty) return;
    try {
      for (const sink of this.#replayed) {
        commit.add(frameKinds.replayed, 0, JSON.stringify({ sink: sinks[sink] }));
      }
      this.#replayed.clear();
      for (const [mark, jobs] of this.#tried) {
        commit.add(frameKinds.tried, 0, JSON.stringify({ mark, jobs: formatRanges(jobs) }));
      }
      this.#tried.clear();
      if (this.#done.length > 0) {
        commit.add(frameKinds.done, 0, formatRanges(this.#done));
        this.#done = [];
      }
      for (const [index, jobs] of this.#sent) {
        const sink = sinks[index]!;
        const mark = { sink, generation: generations[sink], jobs: formatRanges(jobs) };
        commit.add(frameKinds.sent, 0, JSON.stringify(mark));
      }
      this.#sent.clear();
    } catch {
      // No segment can be opened, which was reported. The marks stay for the next turn that writes, and for the checkpoint.
    }
  }
}

/** Formats `[1, 2, 3, 7]` as `'1-3,7'`, for the marks of jobs that are done. */
export function formatRanges(numbers: number[]): string {
  const sorted = numbers.sort((a, b) => a - b);
  let text = '';
  for (let at = 0; at < sorted.length;) {
    const first = sorted[at]!;
    let last = first;
    while (++at < sorted.length && sorted[at]! <= last + 1) last = sorted[at]!;
    text += `${text === '' ? '' : ','}${first}${last === first ? '' : `-${last}`}`;
  }
  return text;
}

export function* parseRanges(text: string): Generator<[first: number, last: number]> {
  for (const range of text.split(',')) {
    const [first, last = first] = range.split('-').map(Number);
    if (first !== undefined && Number.isSafeInteger(first)) yield [first, last!];
  }
}

/** Outcome of an attempt: it failed; or it only began, which `ended` takes back. */
export type TryMark = 'failed' | 'begun' | 'ended';

/** The attempts that a journal records: how often each job failed, and in how many process lifetimes it began without an end. */
export class Tries {
  readonly #failed: Map<number, number>;
  readonly #begun: Map<number, number>;

  constructor(kept: KeptTries = { failed: [], begun: [] }) {
    this.#failed = new Map(kept.failed);
    this.#begun = new Map(kept.begun);
  }

  failed(job: number): number {
    return this.#failed.get(job) ?? 0;
  }

  begun(job: number): number {
    return this.#begun.get(job) ?? 0;
  }

  /** Jobs that began. */
  get running(): number[] {
    return [...this.#begun.keys()];
  }

  add(mark: TryMark, job: number): void {
    if (mark === 'begun') return void this.#begun.set(job, this.begun(job) + 1);
    this.#begun.delete(job);
    if (mark === 'failed') this.#failed.set(job, this.failed(job) + 1);
  }

  forget(job: number): void {
    if (this.#failed.size > 0) this.#failed.delete(job);
    if (this.#begun.size > 0) this.#begun.delete(job);
  }

  get kept(): KeptTries {
    return { failed: [...this.#failed], begun: [...this.#begun] };
  }
}

export interface KeptTries {
  readonly failed: readonly (readonly [job: number, times: number])[];
  readonly begun: readonly (readonly [job: number, times: number])[];
}
