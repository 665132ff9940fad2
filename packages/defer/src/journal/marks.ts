import { frameKinds } from './frame.ts';
import type { GroupCommit } from './group-commit.ts';
import { formatRanges } from './number-ranges.ts';
import type { TryMark } from './tries.ts';

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
