/** Lets one job of each key go at a time, the others in the order they came. */
export class KeyOrder<T extends { readonly key: string | undefined; holdsKey: boolean }> {
  readonly #behind = new Map<string, T[]>();
  #parked = 0;

  /** Jobs that wait for another of their key. */
  get parked(): number {
    return this.#parked;
  }

  /** False when the job has to wait; it comes back from `leave`. */
  enter(job: T): boolean {
    if (job.key === undefined || job.holdsKey) return true;
    const behind = this.#behind.get(job.key);
    if (behind !== undefined) {
      behind.push(job);
      this.#parked++;
      return false;
    }
    this.#behind.set(job.key, []);
    job.holdsKey = true;
    return true;
  }

  /** The job is through; the next one of its key, which now holds it. */
  leave(job: T): T | undefined {
    if (!job.holdsKey || job.key === undefined) return undefined;
    job.holdsKey = false;
    const next = this.#behind.get(job.key)?.shift();
    if (next === undefined) {
      this.#behind.delete(job.key);
      return undefined;
    }
    this.#parked--;
    next.holdsKey = true;
    return next;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const behind of this.#behind.values()) yield* behind;
  }
}
