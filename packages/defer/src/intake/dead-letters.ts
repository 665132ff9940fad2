import { MemoryDeadLetters, type DeadLetter, type DeadLetterBox } from '../journal/dead-letters.ts';
import type { JobRecord } from '../journal/job-record.ts';
import { reasonOf } from '../thrown.ts';

export interface DeadLetterHost {
  readonly maxLetters: number;
  /** Resolves when the job is as safe as it was. */
  requeue(record: JobRecord): Promise<void>;
  overflowed(record: JobRecord): void;
}

/** The jobs that cannot be done. With a journal they lie in its directory, and every process on it sees them. */
export class DeadLetters {
  readonly #box: DeadLetterBox;
  readonly #host: DeadLetterHost;
  #trimming: Promise<void> | undefined;

  constructor(box: DeadLetterBox | undefined, host: DeadLetterHost) {
    this.#box = box ?? new MemoryDeadLetters();
    this.#host = host;
  }

  /** How many there are, as far as this process knows. */
  get size(): number {
    return this.#box.size;
  }

  /** Oldest first. */
  list(): Promise<DeadLetter[]> {
    return this.#box.list();
  }

  /** Gives the job another `attempts` tries. False when there is no such letter. */
  async requeue(id: string): Promise<boolean> {
    const letter = await this.#box.get(id);
    if (letter === undefined) return false;
    await this.#requeue(letter);
    return true;
  }

  /** Requeues all of them, or those of one job or sink. Returns how many there were. */
  async requeueAll({ job, sink }: { job?: string; sink?: string } = {}): Promise<number> {
    let requeued = 0;
    for (const letter of await this.#box.list()) {
      const { record } = letter;
      if (job !== undefined && record.job !== job) continue;
      if (sink !== undefined && record.sink !== sink) continue;
      await this.#requeue(letter);
      requeued++;
    }
    return requeued;
  }

  /** Throws the letter away. False when there is no such letter. */
  remove(id: string): Promise<boolean> {
    return this.#box.remove(id);
  }

  /** For the core. */
  async bury(record: JobRecord, error: unknown, diedAtMs: number): Promise<void> {
    await this.#box.put({ record: toRecord(record), reason: reasonOf(error), diedAtMs });
    if (this.#box.size > this.#host.maxLetters) await (this.#trimming ??= this.#trim());
  }

  async #requeue({ record }: DeadLetter): Promise<void> {
    // In this order a crash makes it twice, and never lost.
    await this.#host.requeue(record);
    await this.#box.remove(record.id);
  }

  /* A tenth at a time: to find the oldest, all of them are read. */
  async #trim(): Promise<void> {
    try {
      const letters = await this.#box.list();
      const excess = letters.length - Math.floor(this.#host.maxLetters * 0.9);
      for (const { record } of letters.slice(0, Math.max(0, excess))) {
        if (await this.#box.remove(record.id)) this.#host.overflowed(record);
      }
    } finally {
      this.#trimming = undefined;
    }
  }
}

/* A record of its own: the job itself would keep its request in memory. */
function toRecord({
  id,
  sink,
  job,
  key,
  json,
  deferredAtMs,
  attempt,
  context,
  options,
}: JobRecord): JobRecord {
  return { id, sink, job, key, json, deferredAtMs, attempt, context, options };
}
