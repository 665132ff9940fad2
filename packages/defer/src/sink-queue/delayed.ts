import type { Clock } from '../clock.ts';
import type { DeferError } from '../errors.ts';
import type { PendingJob } from './pending-job.ts';
import type { JobPlace, Journal } from '../journal/journal.ts';
import type { ReadBackJob } from '../journal/read-back.ts';
import { readPlaces } from '../journal/read-places.ts';
import { Alarm } from './alarm.ts';
import { DueHeap } from './due-heap.ts';
import { DueOnDisk } from './due-on-disk.ts';
import type { ResolvedQueue } from './lane-options.ts';
import type { MemoryBudget } from './memory-budget.ts';

const maxReadAtOnce = 1_000;
const readAgainMs = 1_000;
const lookAgainMs = 10;
const minObsolete = 64;

/** Receives the jobs whose time has come. */
interface Receiver {
  read(jobs: readonly ReadBackJob[]): void;
  /** Reports how many cannot be read back. */
  lost(jobs: number, cause: unknown): void;
  /** Reports that some are currently unreadable; they are retried. */
  trouble(error: DeferError): void;
  /** Called when something is due. */
  ring(): void;
}

/**
 * Jobs that run later: on disk with only their place in memory, or in memory if no journal has them.
 * They are not waited for at shutdown, and do not keep the process alive.
 */
export class Delayed {
  readonly #clock: Clock;
  readonly #options: ResolvedQueue;
  readonly #budget: MemoryBudget;
  readonly #receiver: Receiver;
  readonly #onDisk = new DueOnDisk();
  readonly #inMemory = new DueHeap<PendingJob>();
  readonly #alarm: Alarm;
  #reading = 0;
  /** Obsolete jobs among those in memory. */
  #obsolete = 0;

  constructor(clock: Clock, options: ResolvedQueue, budget: MemoryBudget, receiver: Receiver) {
    this.#clock = clock;
    this.#options = options;
    this.#budget = budget;
    this.#receiver = receiver;
    this.#alarm = new Alarm(clock, () => receiver.ring(), false);
  }

  get length(): number {
    return this.#onDisk.length + this.inMemory + this.#reading;
  }

  /** Those that take room in memory. */
  get inMemory(): number {
    return this.#inMemory.length - this.#obsolete;
  }

  /** Wall clock of the next one. */
  get nextRunAtMs(): number | undefined {
    const dueAtMs = this.#nextDueAtMs;
    if (dueAtMs === Infinity) return undefined;
    return this.#clock.wall() + Math.max(0, dueAtMs - this.#clock.now());
  }

  /** Those in memory. */
  [Symbol.iterator](): Iterator<PendingJob> {
    return this.#inMemory[Symbol.iterator]();
  }

  /** Returns the remaining wait of the job; later changes of the wall clock do not affect it. */
  waitMs({ runAtMs }: { readonly runAtMs?: number | undefined }): number {
    return runAtMs === undefined ? 0 : runAtMs - this.#clock.wall();
  }

  putOnDisk(place: JobPlace, waitMs: number): void {
    this.#onDisk.push(place, this.#clock.now() + waitMs);
    this.#setAlarm();
  }

  /** Called when a job on disk is no longer needed. */
  giveUpOnDisk(): void {
    this.#onDisk.giveUp();
  }

  /** Called when a job in memory is obsolete. */
  giveUpInMemory(job: PendingJob): void {
    job.counts!.loaded++;
    this.#budget.unload(job);
    this.#obsolete++;
    if (this.#obsolete < minObsolete || this.#obsolete < this.#inMemory.length / 2) return;
    this.#inMemory.keep(({ isObsolete }) => !isObsolete);
    this.#obsolete = 0;
  }

  putInMemory(job: PendingJob, waitMs: number): void {
    job.dueAtMs = this.#clock.now() + waitMs;
    job.isDelayed = true;
    this.#inMemory.push(job);
    this.#setAlarm();
  }

  /** Takes a job in memory whose time has come. */
  take(now: number): PendingJob | undefined {
    while ((this.#inMemory.peek()?.dueAtMs ?? Infinity) <= now) {
      const job = this.#inMemory.pop()!;
      job.isDelayed = false;
      if (!job.isObsolete) return job;
      this.#obsolete--;
    }
    return undefined;
  }

  /** Reads the due jobs, as far as there is room. */
  readDue(now: number): void {
    const { maxPending, maxPendingBytes } = this.#options;
    const { loaded, loadedLength } = this.#budget;
    const length = maxPendingBytes / 2 - loadedLength;
    const maxJobs = Math.min(maxReadAtOnce, Math.floor(maxPending / 2) - loaded);
    const mayRead = this.#reading === 0 && length > 0 && (maxJobs > 0 || loaded === 0);
    const places = mayRead ? this.#popDue(now, Math.max(1, maxJobs)) : [];
    if (places.length > 0) void this.#read(places, length);
    // Due jobs without room are checked again when there is some.
    if (!this.#isDueOnDisk(now)) this.#setAlarm();
  }

  /** Called when the journal is finished. */
  detach(journal: Journal): void {
    this.#onDisk.detach(journal);
  }

  stop(): void {
    this.#alarm.cancel();
  }

  #popDue(now: number, maxJobs: number): JobPlace[] {
    const places: JobPlace[] = [];
    while (places.length < maxJobs && this.#isDueOnDisk(now)) {
      const place = this.#onDisk.pop();
      if (place !== undefined) places.push(place);
    }
    return places;
  }

  get #nextDueAtMs(): number {
    const onDisk = this.#onDisk.nextDueAtMs ?? Infinity;
    return Math.min(onDisk, this.#inMemory.peek()?.dueAtMs ?? Infinity);
  }

  #isDueOnDisk(now: number): boolean {
    return (this.#onDisk.nextDueAtMs ?? Infinity) <= now;
  }

  #setAlarm(): void {
    const dueAtMs = this.#nextDueAtMs;
    const now = this.#clock.now();
    if (dueAtMs !== Infinity) this.#alarm.ringIn(Math.max(0, dueAtMs - now), now);
  }

  async #read(places: readonly JobPlace[], maxLength: number): Promise<void> {
    this.#reading = places.length;
    const { jobs, unread, stuck, lost, trouble, cause } = await readPlaces(places, maxLength);
    this.#reading = 0;
    const now = this.#clock.now();
    // Either the first of them is not written yet, or there is no room for more. Both pass quickly.
    for (const place of unread) this.#onDisk.push(place, now + lookAgainMs);
    for (const place of stuck) this.#onDisk.push(place, now + readAgainMs);
    if (trouble !== undefined) this.#receiver.trouble(trouble);
    if (lost > 0) this.#receiver.lost(lost, cause);
    this.#receiver.read(jobs);
  }
}
