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

  /** Called when the job is done. */
  forget(job: number): void {
    if (this.#failed.size > 0) this.#failed.delete(job);
    if (this.#begun.size > 0) this.#begun.delete(job);
  }

  /** Contents for a checkpoint. */
  get kept(): KeptTries {
    return { failed: [...this.#failed], begun: [...this.#begun] };
  }
}

export interface KeptTries {
  readonly failed: readonly (readonly [job: number, times: number])[];
  readonly begun: readonly (readonly [job: number, times: number])[];
}
