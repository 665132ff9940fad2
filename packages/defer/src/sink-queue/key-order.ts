/** Admits one job of each key at a time, the others in order of arrival. */
export class KeyOrder<T extends { readonly key: string | undefined; holdsKey: boolean }> {
  readonly #queues = new Map<string, T[]>();
  #waiting = 0;

  /** Jobs that wait for another with their key. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Returns false if the job has to wait; `leave` returns it later. */
  enter(job: T): boolean {
    if (job.key === undefined || job.holdsKey) return true;
    const queue = this.#queues.get(job.key);
    if (queue !== undefined) {
      queue.push(job);
      this.#waiting++;
      return false;
    }
    this.#queues.set(job.key, []);
    job.holdsKey = true;
    return true;
  }

  /** Called when the job is done. Returns the next one with its key, which now holds it. */
  leave(job: T): T | undefined {
    if (!job.holdsKey || job.key === undefined) return undefined;
    job.holdsKey = false;
    const next = this.#queues.get(job.key)?.shift();
    if (next === undefined) {
      this.#queues.delete(job.key);
      return undefined;
    }
    this.#waiting--;
    next.holdsKey = true;
    return next;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const queue of this.#queues.values()) yield* queue;
  }
}
