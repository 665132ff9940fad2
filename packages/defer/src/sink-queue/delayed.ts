import type { JobPlace, Journal } from '../journal/journal.ts';
import type { Clock } from '../clock.ts';
import type { DeferError } from '../errors.ts';
import type { PendingJob } from './pending-job.ts';
import type { ReadBackJob } from '../journal/read-back.ts';
import { readPlaces } from '../journal/read-places.ts';
import { Alarm } from './wake-up.ts';
import { DueHeap } from './deque-and-heap.ts';
import type { ResolvedQueue } from './queue-options.ts';
import type { MemoryBudget } from './memory-budget.ts';

const minCapacity = 64;

/**
 * Jobs that wait on disk for their time, the earliest first: 26 bytes for each, outside V8's heap. A million of them
 * do not burden the collector.
 */
export class DueOnDisk {
  #dueAtMs = new Float64Array(minCapacity);
  #numbers = new Float64Array(minCapacity);
  #offsets = new Float64Array(minCapacity);
  #places = new Uint16Array(minCapacity);
  #length = 0;
  /** Jobs in the heap that are no longer needed: each is found when its time has come. */
  #obsolete = 0;
  /** Slots of finished journals are reused. */
  readonly #journals: (Journal | undefined)[] = [];

  get length(): number {
    return this.#length - this.#obsolete;
  }

  /** Called when one of the jobs is no longer needed, as its journal records. */
  giveUp(): void {
    this.#obsolete++;
  }

  get nextDueAtMs(): number | undefined {
    return this.#length === 0 ? undefined : this.#dueAtMs[0];
  }

  push({ journal, number, offset }: JobPlace, dueAtMs: number): void {
    if (this.#length === this.#dueAtMs.length) this.#resize(this.#length * 2);
    const slot = this.#slotOf(journal);
    let at = this.#length++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(dueAtMs, number, parent)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, dueAtMs, number, offset, slot);
  }

  /** Removes the earliest. Returns undefined if its journal no longer has it. */
  pop(): JobPlace | undefined {
    const journal = this.#journals[this.#places[0]!];
    const place = journal?.placeOf(this.#numbers[0]!, this.#offsets[0]!);
    this.#length--;
    this.#sink(this.#length);
    if (place === undefined && this.#obsolete > 0) this.#obsolete--;
    const size = this.#dueAtMs.length;
    // A burst must not occupy memory forever.
    if (size > minCapacity && this.#length < size / 4) this.#resize(size / 2);
    return place;
  }

  /** Called when the journal is finished. */
  detach(journal: Journal): void {
    const slot = this.#journals.indexOf(journal);
    if (slot !== -1 && !this.#uses(slot)) this.#journals[slot] = undefined;
  }

  /* Moves the last item, at `from`, from the top down to its place. */
  #sink(from: number): void {
    const dueAtMs = this.#dueAtMs[from]!;
    const number = this.#numbers[from]!;
    const offset = this.#offsets[from]!;
    const slot = this.#places[from]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#length) break;
      const next = child + 1;
      if (
        next < this.#length &&
        this.#isBefore(this.#dueAtMs[next]!, this.#numbers[next]!, child)
      ) {
        child = next;
      }
      if (!this.#isBefore(this.#dueAtMs[child]!, this.#numbers[child]!, from)) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, dueAtMs, number, offset, slot);
  }

  #isBefore(dueAtMs: number, number: number, at: number): boolean {
    const other = this.#dueAtMs[at]!;
    return dueAtMs < other || (dueAtMs === other && number < this.#numbers[at]!);
  }

  #move(from: number, to: number): void {
    const due = this.#dueAtMs[from]!;
    this.#set(to, due, this.#numbers[from]!, this.#offsets[from]!, this.#places[from]!);
  }

  #set(at: number, dueAtMs: number, number: number, offset: number, slot: number): void {
    this.#dueAtMs[at] = dueAtMs;
    this.#numbers[at] = number;
    this.#offsets[at] = offset;
    this.#places[at] = slot;
  }

  #slotOf(journal: Journal): number {
    const known = this.#journals.indexOf(journal);
    if (known !== -1) return known;
    const free = this.#journals.indexOf(undefined);
    if (free === -1) return this.#journals.push(journal) - 1;
    this.#journals[free] = journal;
    return free;
  }

  #uses(slot: number): boolean {
    return this.#places.subarray(0, this.#length).includes(slot);
  }

  #resize(size: number): void {
    this.#dueAtMs = resized(this.#dueAtMs, new Float64Array(size));
    this.#numbers = resized(this.#numbers, new Float64Array(size));
    this.#offsets = resized(this.#offsets, new Float64Array(size));
    this.#places = resized(this.#places, new Uint16Array(size));
  }
}

function resized<T extends Float64Array | Uint16Array>(from: T, to: T): T {
  to.set(from.subarray(0, to.length));
  return to;
}

const maxReadAtOnce = 1_000;
const readAgainMs = 1_000;
const lookAgainMs = 10;
const minObsolete = 64;

interface Receiver {
  read(jobs: readonly ReadBackJob[]): void;
  /** Reports how many cannot be read back. */
  lost(jobs: number, cause: unknown): void;
  /** Reports that some are currently unreadable; they are retried. */
  trouble(error: DeferError): void;
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
