import { join } from 'node:path';
import { optionError, journalError } from '../errors.ts';
import { Appending, type AppendingSettings } from './appending.ts';
import { frameKinds } from './frame.ts';
import { remove } from './journal-fs.ts';
import type { KeyedRecord } from './job-record.ts';
import type { KindCount, FoundJournal } from './recover-folder.ts';
import { Marks, Tries, type TryMark } from './marks.ts';
import { giveLifeSign, lifeSignEveryMs } from './owner.ts';
import { SegmentCleanup } from './checkpoint.ts';
import { jobStates, maxSinksOfAJournal, Segment, segmentName, type JobState } from './segment.ts';

export interface JournalSettings<Waiter = unknown> extends AppendingSettings<Waiter> {
  /** Called when files of the journal were removed from outside. Must not throw. */
  removed(journal: Journal<Waiter>, cause: unknown): void;
}

export interface JobPlace {
  readonly journal: Journal;
  readonly segment: Segment;
  readonly number: number;
  /** Offset of its frame in the segment. */
  readonly offset: number;
}

/**
 * One folder of segments: this process's own, or an adopted one. Knows the state of each job, and forgets finished
 * ones.
 */
export class Journal<Waiter = unknown> {
  readonly id: string;
  folder: string;
  readonly segments: Segment[];
  readonly sinks: string[];
  /** True if its jobs belong to another process. */
  readonly isAdopted: boolean;
  readonly tries: Tries;
  /** The jobs that waited in it when it was adopted, by kind. */
  readonly found: readonly KindCount[];
  /** Those of them that were deferred with `onDuplicate`. */
  readonly keyed: readonly KeyedRecord[];
  readonly generations: Record<string, string>;
  readonly settings: JournalSettings<Waiter>;
  readonly #appending: Appending<Waiter>;
  #nextJob: number;
  #unwrittenJobs: { segment: Segment; first: number; last: number } | undefined;
  /** Jobs of failed writes, since the last write that succeeded. */
  readonly #neverWritten: [first: number, last: number][] = [];
  readonly #marks = new Marks();
  readonly #cleanup: SegmentCleanup;
  /** Time at which the server of a sink was last seen alive, in the lifetime that `generations` names. */
  readonly #seenAlive = new Map<string, number>();
  #signedAtMs: number;
  #isReleased = false;

  constructor(
    id: string,
    folder: string,
    settings: JournalSettings<Waiter>,
    found: FoundJournal | undefined = undefined,
  ) {
    this.id = id;
    this.folder = folder;
    this.settings = settings;
    this.isAdopted = found !== undefined;
    this.segments = found?.segments ?? [];
    this.sinks = found?.sinks ?? [];
    this.generations = found?.generations ?? {};
    this.tries = found?.tries ?? new Tries();
    this.found = found?.kinds ?? [];
    this.keyed = found?.keyed ?? [];
    this.#signedAtMs = settings.clock.now();
    this.#nextJob = found?.nextJob ?? 1;
    this.#appending = new Appending<Waiter>(this, found?.nextSegment ?? 1, {
      beforeWrite: (commit) => this.#marks.addTo(commit, this.sinks, this.generations),
      written: () => {
        this.#unwrittenJobs = undefined;
        this.#neverWritten.length = 0;
      },
      lost: () => this.#forgetUnwritten(),
    });
    this.#cleanup = new SegmentCleanup(this, (error) => {
      settings.trouble(journalError(`The journal ${this.folder} has no new checkpoint`, error));
    });
  }

  /** Bytes of its segments, except finished ones, which are about to be deleted. */
  get bytes(): number {
    let bytes = 0;
    for (const segment of this.segments) if (segment.unfinished > 0) bytes += segment.bytes;
    return bytes;
  }

  /** Unfinished jobs, including sent ones within their replay window. */
  get unfinished(): number {
    let unfinished = 0;
    for (const segment of this.segments) unfinished += segment.unfinished;
    return unfinished;
  }

  get hasUnwritten(): boolean {
    return this.#appending.commit.hasUnwritten;
  }

  get openSegment(): Segment | undefined {
    return this.#appending.segment;
  }

  /** True after all reads and writes have ended. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  sinkIndex(sink: string): number {
    const known = this.sinks.indexOf(sink);
    if (known !== -1) return known;
    if (this.sinks.length === maxSinksOfAJournal) {
      throw optionError(`A journal keeps jobs of at most ${maxSinksOfAJournal} sinks.`);
    }
    return this.sinks.push(sink) - 1;
  }

  /**
   * Adds one job, which its queue also has in memory.
   * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: no segment can be opened
   */
  append(sink: string, record: string): JobPlace {
    const index = this.sinkIndex(sink);
    const number = this.#nextJob;
    const offset = this.#appending.commit.add(frameKinds.job, number, record);
    const segment = this.#appending.segment!;
    this.#nextJob++;
    segment.add(number, index, jobStates.loaded);
    // One buffer goes to one segment.
    this.#unwrittenJobs ??= { segment, first: number, last: number };
    this.#unwrittenJobs.last = number;
    return { journal: this, segment, number, offset };
  }

  /** Gives a sign of life of its owner. @throws if the folder has been renamed or removed */
  giveLifeSign(): void {
    giveLifeSign(this.folder);
    this.#signedAtMs = this.settings.clock.now();
  }

  /**
   * Confirms that the folder still belongs to this process. If the process was suspended (SIGSTOP, a frozen container),
   * another one may have adopted the journal and read it: nothing written afterwards would be found.
   * @throws as `giveLifeSign`
   */
  confirm(): void {
    if (this.settings.clock.now() - this.#signedAtMs >= 2 * lifeSignEveryMs) this.giveLifeSign();
  }

  flush(): void {
    this.#appending.commit.flush();
  }

  removed(cause: unknown): void {
    this.settings.removed(this, cause);
  }

  /** Calls `settings.committed` for `waiter` when the last append has reached `level`. */
  wait(level: 'process' | 'disk', waiter: Waiter): void {
    this.#appending.commit.wait(level, waiter);
  }

  /** Marks a job that its queue has no room for: it is read back later. */
  unload({ segment, number }: JobPlace): void {
    if (segment.stateOf(number) === jobStates.loaded) segment.set(number, jobStates.waiting);
  }

  /** Returns false if its files were removed, or the job could not be written. */
  has({ segment, number }: JobPlace): boolean {
    return this.segments.includes(segment) && segment.stateOf(number) === jobStates.loaded;
  }

  /** Returns the place of a job that its queue has dropped from memory; undefined if it is gone. */
  placeOf(number: number, offset: number): JobPlace | undefined {
    return this.#placeIn(jobStates.loaded, number, offset);
  }

  /** Returns the place of a job that waits and is only on disk; undefined for any other. */
  waitingAt(number: number): JobPlace | undefined {
    return this.#placeIn(jobStates.waiting, number, 0);
  }

  /** Gives up a job that was found and is not needed: no queue has it yet. */
  giveUpFound(
    place: JobPlace,
    { sink, job }: { readonly sink: string; readonly job: string },
  ): void {
    this.done(place);
    const kind = this.found.find((each) => each.sink === sink && each.job === job);
    if (kind !== undefined) kind.jobs--;
  }

  /** Marks a job as no longer needed: it was delivered, withdrawn, dropped, or is a dead letter. */
  done({ segment, number }: JobPlace): void {
    const state = segment.stateOf(number);
    if (state === jobStates.absent || state === jobStates.done) return;
    segment.set(number, jobStates.done);
    this.tries.forget(number);
    this.#marks.done(number);
    this.#appending.commit.schedule();
  }

  failed({ number }: JobPlace): void {
    this.#try('failed', number);
  }

  /** Records the start of an attempt that may end the process: it is written at once, and counts until the attempt has ended. */
  begin({ number }: JobPlace): void {
    this.#try('begun', number);
    this.#appending.commit.flush();
  }

  /** Called when the process ends, and no job is to blame. */
  endTries(): void {
    for (const number of this.tries.running) this.#try('ended', number);
  }

  /** Records that the sink has the job, in the lifetime of its server that `generations` names. */
  sent({ segment, number }: JobPlace): void {
    if (segment.stateOf(number) !== jobStates.loaded) return;
    segment.set(number, jobStates.sent);
    segment.lastSentAtMs = this.settings.clock.now();
    this.#marks.sent(segment.sinkOf(number), number);
    this.#appending.commit.schedule();
  }

  /** Called when the server of the sink restarted: jobs it acknowledged within the window wait again. Returns how many. */
  replay(sink: string): number {
    const index = this.sinks.indexOf(sink);
    if (index === -1) return 0;
    let replayed = 0;
    for (const segment of this.segments) {
      replayed += segment.move(jobStates.sent, jobStates.waiting, (_, of) => of === index);
    }
    if (replayed === 0) return 0;
    this.#marks.replayed(index);
    this.#appending.commit.schedule();
    return replayed;
  }

  giveUpOnSync(limitMs: number): void {
    this.#appending.commit.giveUpOnSync(limitMs);
  }

  /** Called for a sink that has a queue here: sent jobs are kept until its server has been seen alive a window later. */
  watch(sink: string): void {
    this.#seenAlive.set(sink, -Infinity);
  }

  /** Called when the sink's server is still the same. */
  seeAlive(sink: string, now: number): void {
    this.#seenAlive.set(sink, now);
  }

  /** Forgets jobs sent longer ago than the window, and deletes segments that are no longer needed. */
  endReplayWindows(): void {
    const { clock, replayWindowMs } = this.settings;
    const now = clock.now();
    // While a server is away, it is unknown what it will come back with. For a sink that is not configured, it stays unknown.
    const seenAlive = this.sinks.map((sink) => this.#seenAlive.get(sink) ?? now);
    for (const segment of this.segments) {
      const { lastSentAtMs } = segment;
      if (now - lastSentAtMs < replayWindowMs) continue;
      segment.move(
        jobStates.sent,
        jobStates.done,
        (_, sink) => seenAlive[sink]! - lastSentAtMs >= replayWindowMs,
      );
    }
    this.#cleanup.removeFinished(now);
  }

  /** Gives up the replay window of the oldest segment that has one, to make room. Returns false if none has one. */
  giveUpOldestReplayWindow(): boolean {
    for (const segment of this.segments) {
      const moved = segment.move(jobStates.sent, jobStates.done, () => true);
      if (moved > 0 && segment.unfinished === 0) return true;
    }
    return false;
  }

  /** Discards the jobs that wait for the sink in the oldest segment that this frees. Returns how many. */
  dropOldest(sink: string): number {
    const index = this.sinks.indexOf(sink);
    const { waiting, loaded, sent, done } = jobStates;
    for (const segment of this.segments) {
      // If others need the segment, jobs would be lost without making room.
      if (segment.count(loaded) > 0 || !segment.everyOneIs(waiting, index)) continue;
      segment.move(sent, done, () => true);
      const dropped = segment.move(waiting, done, () => true);
      if (dropped > 0) return dropped;
    }
    return 0;
  }

  /** Called when its folder is gone. Its contents belong to another process; later jobs begin a new file. */
  abandon(): void {
    this.segments.length = 0;
    this.#signedAtMs = this.settings.clock.now();
    this.#appending.folderGone();
  }

  /** Resolves when everything so far is written and synced, or has failed. */
  whenIdle(): Promise<void> {
    return this.#appending.commit.whenIdle();
  }

  /** True if nothing of the journal is needed any longer. */
  get isFinished(): boolean {
    return this.segments.every((segment) => segment.unfinished === 0);
  }

  /** True if none of its unfinished jobs is for one of these sinks. */
  hasNothingFor(isSink: (name: string) => boolean): boolean {
    const wanted = this.sinks.map((name) => isSink(name));
    if (wanted.every(Boolean)) return this.isFinished;
    return !this.segments.some((segment) => segment.hasUnfinished((sink) => wanted[sink]!));
  }

  /**
   * Writes, syncs and closes synchronously. Removes the files of a finished journal and returns true: its folder is
   * empty.
   */
  release(): boolean {
    if (this.#isReleased) return false;
    this.#isReleased = true;
    const { fs } = this.settings;
    if (this.isFinished) {
      this.#appending.close();
      for (const segment of this.segments) remove(fs, this.pathOf(segment));
      for (const name of ['checkpoint', 'checkpoint.new']) remove(fs, join(this.folder, name));
      return true;
    }
    this.#appending.commit.flushSync();
    this.#appending.close();
    return false;
  }

  pathOf(segment: Segment): string {
    return join(this.folder, segmentName(segment.number));
  }

  #placeIn(state: JobState, number: number, offset: number): JobPlace | undefined {
    const segment = this.segments.findLast(({ firstJob }) => firstJob >= 0 && firstJob <= number);
    if (segment?.stateOf(number) !== state) return undefined;
    return { journal: this as Journal, segment, number, offset };
  }

  #try(mark: TryMark, number: number): void {
    this.tries.add(mark, number);
    this.#marks.tried(mark, number);
    this.#appending.commit.schedule();
  }

  #forgetUnwritten(): void {
    const lost = this.#unwrittenJobs;
    this.#unwrittenJobs = undefined;
    if (lost === undefined) return;
    const { segment, first, last } = lost;
    for (let job = first; job <= last; job++) {
      if (segment.stateOf(job) !== jobStates.absent) segment.set(job, jobStates.absent);
    }
    this.#neverWritten.push([first, last]);
    // Their numbers are never reused: the next write records that, or they would count as missing.
    for (const [from, to] of this.#neverWritten) {
      for (let job = from; job <= to; job++) this.#marks.done(job);
    }
  }
}
