import { DeferError } from '../errors.ts';
import {
  MemoryDeadLetters,
  type DeadLetter,
  type DeadLetterBox,
  type UnreadableLetter,
} from '../journal/dead-letters.ts';
import type { JobRecord } from '../journal/job-record.ts';
import { messageOf, reasonOf } from '../thrown.ts';
import type { Clock } from '../clock.ts';
import type { PendingJob } from '../sink-queue/pending-job.ts';
import { type DeferLogger, LogThrottle } from '../logger.ts';

export interface DeadLetterHost {
  readonly maxLetters: number;
  /** Resolves when the job is as safe as before. */
  requeue(record: JobRecord): Promise<void>;
  overflowed(record: JobRecord): void;
}

/** The jobs that failed for good. With a journal they are in its directory, visible to every process that uses it. */
export class DeadLetters {
  readonly #box: DeadLetterBox;
  readonly #host: DeadLetterHost;
  /** Removes letters until there is room. Resolves with true if there is more than before. */
  #trimming: Promise<boolean> | undefined;
  /** Letters being written: each until it is written or has failed. */
  readonly #putting = new Set<Promise<void>>();

  constructor(box: DeadLetterBox | undefined, host: DeadLetterHost) {
    this.#box = box ?? new MemoryDeadLetters();
    this.#host = host;
  }

  /** Number of letters, as far as this process knows, unreadable ones included. */
  get size(): number {
    return this.#box.size;
  }

  /** Returns the letters, oldest first, without those that `unreadable` lists. */
  async list(): Promise<DeadLetter[]> {
    return (await this.#box.read()).letters;
  }

  /** Returns the letters that cannot be read, with the reasons. They stay until they can be, or are removed by their `id`. */
  async unreadable(): Promise<UnreadableLetter[]> {
    return (await this.#box.read()).unreadable;
  }

  /**
   * Gives the job another `attempts`. Returns false if the letter does not exist.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_DAMAGED: it cannot be read
   */
  async requeue(id: string): Promise<boolean> {
    let letter: DeadLetter | undefined;
    try {
      letter = await this.#box.get(id);
    } catch (cause) {
      throw new DeferError(
        'ERR_REDLINE_DEFER_DAMAGED',
        `The dead letter ${id} cannot be read: ${messageOf(cause)}. deadLetters.remove(id) deletes it.`,
        { cause },
      );
    }
    if (letter === undefined) return false;
    await this.#requeue(letter);
    return true;
  }

  /** Requeues all of them, or those of one job or sink. Returns how many. */
  async requeueAll({ job, sink }: { job?: string; sink?: string } = {}): Promise<number> {
    let requeued = 0;
    for (const letter of await this.list()) {
      const { record } = letter;
      if (job !== undefined && record.job !== job) continue;
      if (sink !== undefined && record.sink !== sink) continue;
      await this.#requeue(letter);
      requeued++;
    }
    return requeued;
  }

  /** Deletes the letter. Returns false if it does not exist. */
  remove(id: string): Promise<boolean> {
    return this.#box.remove(id);
  }

  async bury(record: JobRecord, error: unknown, diedAtMs: number): Promise<void> {
    // Makes room first: the limit holds however many jobs die at once.
    while (this.#box.size + this.#putting.size >= this.#host.maxLetters) {
      if (this.#box.size === 0) await Promise.race(this.#putting);
      else if (!(await (this.#trimming ??= this.#trim()))) break;
    }
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    this.#putting.add(isOver);
    try {
      await this.#box.put({ record: toRecord(record), reason: reasonOf(error), diedAtMs });
    } finally {
      this.#putting.delete(isOver);
      resolve();
    }
  }

  async #requeue({ record }: DeadLetter): Promise<void> {
    // In this order a crash can duplicate it, but never lose it.
    await this.#box.release(record.id);
    await this.#host.requeue(record);
    await this.#box.released(record.id);
  }

  /* A tenth at a time, because finding the oldest reads all of them. */
  async #trim(): Promise<boolean> {
    const { size } = this.#box;
    let removed = 0;
    try {
      const excess = size + this.#putting.size - Math.floor(this.#host.maxLetters * 0.9);
      for (const { record } of await this.#box.oldest(Math.max(1, excess))) {
        if (!(await this.#box.remove(record.id))) continue;
        removed++;
        this.#host.overflowed(record);
      }
    } finally {
      this.#trimming = undefined;
    }
    return removed > 0 || this.#box.size < size;
  }
}

/* A separate record: the job itself would keep its request in memory. */
function toRecord(of: JobRecord): JobRecord {
  const { id, sink, job, key, json, deferredAtMs, attempt, context, options } = of;
  return { id, sink, job, key, json, deferredAtMs, attempt, context, options };
}

/** Reports jobs and closures that failed for good, and keeps the jobs as dead letters. */
export class Failures {
  readonly #clock: Clock;
  readonly #logger: DeferLogger;
  readonly #letters: () => DeadLetters;
  readonly #throttle: LogThrottle;

  constructor(clock: Clock, logger: DeferLogger, letters: () => DeadLetters) {
    this.#clock = clock;
    this.#logger = logger;
    this.#letters = letters;
    this.#throttle = new LogThrottle(clock, (count) =>
      logger.warn(`defer: ${count} more jobs are dead letters, or closures that failed.`),
    );
  }

  async bury(job: PendingJob, error: unknown): Promise<void> {
    const isClosure = job.work !== undefined;
    this.#throttle.log(() =>
      this.#logger.warn(
        isClosure
          ? `defer: a closure (${job.job}) failed.`
          : `defer: the job ${job.id} (${job.job}) is a dead letter.`,
        error,
      ),
    );
    if (!isClosure) await this.#letters().bury(job, error, this.#clock.wall());
  }
}
