import type { Clock } from '../clock.ts';
import type { DeferError } from '../errors.ts';
import type { PendingJob } from './pending-job.ts';
import type { JobPlace, Journal } from '../journal/journal.ts';
import type { ReadBackJob } from '../journal/read-back.ts';
import { readPlaces } from '../journal/read-places.ts';
import { Alarm } from './alarm.ts';
import { DueHeap } from './due-heap.ts';
import { DueOnDisk } from './due-on-disk.ts';
import type { ResolvedLane } from './lane-options.ts';
import type { Room } from './room.ts';

const mostReadAtOnce = 1_000;
const readAgainMs = 1_000;
const lookAgainMs = 10;
const fewestObsolete = 64;

/** Who gets the jobs whose time has come. */
interface Receiver {
  read(jobs: readonly ReadBackJob[]): void;
  /** So many cannot be read back. */
  lost(jobs: number, cause: unknown): void;
  /** Some cannot be read for now; they are tried again. */
  trouble(error: DeferError): void;
  /** Something is due. */
  ring(): void;
}

/**
 * Jobs that are to run later: on disk with nothing but their place in memory, or in memory where no journal has them.
 * They are not waited for at an end, and keep no process alive that has nothing else to do.
 */
export class Delayed {
  readonly #clock: Clock;
  readonly #options: ResolvedLane;
  readonly #room: Room;
  readonly #receiver: Receiver;
  readonly #onDisk = new DueOnDisk();
  readonly #inMemory = new DueHeap<PendingJob>();
  readonly #alarm: Alarm;
  #reading = 0;
  /** Of those in memory. */
  #obsolete = 0;

  constructor(clock: Clock, options: ResolvedLane, room: Room, receiver: Receiver) {
    this.#clock = clock;
    this.#options = options;
    this.#room = room;
    this.#receiver = receiver;
    this.#alarm = new Alarm(clock, () => receiver.ring(), false);
  }

  get length(): number {
    return this.#onDisk.length + this.inMemory + this.#reading;
  }

  /** Those of them that take room in memory. */
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

  /** How long the job still has to wait. From here on the wall clock may be set. */
  waitMs({ runAtMs }: { readonly runAtMs?: number | undefined }): number {
    return runAtMs === undefined ? 0 : runAtMs - this.#clock.wall();
  }

  putOnDisk(place: JobPlace, waitMs: number): void {
    this.#onDisk.push(place, this.#clock.now() + waitMs);
    this.#setAlarm();
  }

  /** One of those on disk is not needed any more. */
  giveUpOnDisk(): void {
    this.#onDisk.giveUp();
  }

  /** One of those in memory is obsolete. */
  giveUpInMemory(): void {
    this.#obsolete++;
    if (this.#obsolete < fewestObsolete || this.#obsolete < this.#inMemory.length / 2) return;
    this.#inMemory.keep(({ isObsolete }) => !isObsolete);
    this.#obsolete = 0;
  }

  putInMemory(job: PendingJob, waitMs: number): void {
    job.dueAtMs = this.#clock.now() + waitMs;
    job.isDelayed = true;
    this.#inMemory.push(job);
    this.#setAlarm();
  }

  /** A job in memory whose time has come. */
  take(now: number): PendingJob | undefined {
    while ((this.#inMemory.peek()?.dueAtMs ?? Infinity) <= now) {
      const job = this.#inMemory.pop()!;
      job.isDelayed = false;
      if (!job.isObsolete) return job;
      this.#obsolete--;
    }
    return undefined;
  }

  /** Reads those whose time has come, as far as there is room. */
  readDue(now: number): void {
    const { maxPending, maxPendingBytes } = this.#options;
    const { loaded, loadedLength } = this.#room;
    const length = maxPendingBytes / 2 - loadedLength;
    const most = Math.min(mostReadAtOnce, Math.floor(maxPending / 2) - loaded);
    const mayRead = this.#reading === 0 && length > 0 && (most > 0 || loaded === 0);
    const places = mayRead ? this.#popDue(now, Math.max(1, most)) : [];
    if (places.length > 0) void this.#read(places, length);
    // What is due and has no room is looked at again when there is some.
    if (!this.#isDueOnDisk(now)) this.#setAlarm();
  }

  /** The journal is finished. */
  detach(journal: Journal): void {
    this.#onDisk.detach(journal);
  }

  stop(): void {
    this.#alarm.cancel();
  }

  #popDue(now: number, most: number): JobPlace[] {
    const places: JobPlace[] = [];
    while (places.length < most && this.#isDueOnDisk(now)) {
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
    // The first of those is not written yet, or there is no room for more: both are over soon.
    for (const place of unread) this.#onDisk.push(place, now + lookAgainMs);
    for (const place of stuck) this.#onDisk.push(place, now + readAgainMs);
    if (trouble !== undefined) this.#receiver.trouble(trouble);
    if (lost > 0) this.#receiver.lost(lost, cause);
    this.#receiver.read(jobs);
  }
}
