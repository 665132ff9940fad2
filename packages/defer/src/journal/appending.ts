import type { Clock } from '../clock.ts';
import { type DeferError, journalError } from '../errors.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { Sealing } from '../seal/sealing.ts';
import { type CommitTarget, dropReserve } from './commit-target.ts';
import { segmentSalt } from './frame.ts';
import { GroupCommit } from './group-commit.ts';
import { close, remove, type JournalFs } from './journal-fs.ts';
import { encodeBeginning, placeOf } from './sealed-frames.ts';
import { Segment } from './segment.ts';

export interface AppendingSettings<Waiter> {
  readonly fs: JournalFs;
  readonly clock: Clock;
  readonly segmentBytes: number;
  /** Time for which acknowledged jobs are kept, in case the server of the sink comes back without them; 0 disables it. */
  readonly replayWindowMs: number;
  /** Seals the jobs, if given. */
  readonly keys: KeyRing | undefined;
  /** Called for the first of consecutive failures to write or sync. */
  trouble(error: DeferError): void;
  /** Called when it works again. */
  recovered(afterMs: number): void;
  /** Called when the waiters' jobs have reached their level or, with an error, have not. Must not throw. */
  committed(waiters: readonly Waiter[], error: unknown): void;
}

/** The part of the journal that appending uses. */
export interface AppendingHost<Waiter> {
  readonly id: string;
  readonly folder: string;
  /** In the order in which they were begun: a new one goes to the end. */
  readonly segments: Segment[];
  readonly settings: AppendingSettings<Waiter>;
  pathOf(segment: Segment): string;
  /** @throws if the journal may belong to another process by now */
  confirm(): void;
  /** Its files were removed from outside. */
  removed(cause: unknown): void;
}

/** Receives reports on a buffer, which has all frames added since the previous one. */
export interface AppendingEvents<Waiter> {
  /** The last chance to add to it. */
  beforeWrite(commit: GroupCommit<Waiter>): void;
  written(): void;
  /** None of it is in the segment, or will be. */
  lost(): void;
}

interface OpenSegment extends CommitTarget {
  readonly segment: Segment;
}

class RemovedError extends Error {
  constructor() {
    super('its file was removed');
  }
}

const distrustEveryMs = 1_000;
/** Long enough to keep files few, short enough to keep a replay small. */
const windowsPerSegment = 2;

/**
 * Appends to the last segment of a journal, and begins a new one when that is full, old, or no longer trusted. Reports
 * a failure once, and the recovery once.
 */
export class Appending<Waiter = unknown> {
  readonly commit: GroupCommit<Waiter>;
  readonly #journal: AppendingHost<Waiter>;
  readonly #events: AppendingEvents<Waiter>;
  #open: OpenSegment | undefined;
  #nextSegment: number;
  #openIsBroken = false;
  #isSyncFailing = false;
  #distrustedAtMs = -Infinity;
  #troubledSinceMs: number | undefined;

  constructor(
    journal: AppendingHost<Waiter>,
    nextSegment: number,
    events: AppendingEvents<Waiter>,
  ) {
    this.#journal = journal;
    this.#nextSegment = nextSegment;
    this.#events = events;
    const { settings } = journal;
    const { fs, clock } = settings;
    this.commit = new GroupCommit<Waiter>(fs, {
      now: () => clock.now(),
      target: () => this.#target(),
      beforeWrite: () => events.beforeWrite(this.commit),
      confirm: (target) => this.#confirm(target),
      writeFailed: (error, segmentIsBroken) => this.#writeFailed(error, segmentIsBroken),
      syncFailed: (error) => this.#syncFailed(error),
      worked: () => this.#worked(),
      synced: () => this.#synced(),
      committed: (waiters, error) => settings.committed(waiters, error),
    });
  }

  /** The segment that is appended to, if one is open. */
  get segment(): Segment | undefined {
    return this.#open?.segment;
  }

  /** Called when the folder is gone: later jobs begin a new file. */
  folderGone(): void {
    this.#openIsBroken = true;
    this.commit.folderGone();
  }

  close(): void {
    this.commit.close();
    if (this.#open === undefined) return;
    const { fs } = this.#journal.settings;
    dropReserve(fs, this.#open);
    close(fs, this.#open.fd);
    this.#open = undefined;
  }

  /** Reports the first of consecutive failures. Returns it as an error. */
  trouble(sentence: string, cause: unknown): DeferError {
    const error = journalError(sentence, cause);
    if (this.#troubledSinceMs !== undefined) return error;
    const { settings } = this.#journal;
    this.#troubledSinceMs = settings.clock.now();
    settings.trouble(error);
    return error;
  }

  #target(): OpenSegment {
    const { clock, segmentBytes, replayWindowMs, keys } = this.#journal.settings;
    const open = this.#open;
    if (open !== undefined && !this.#openIsBroken) {
      const isFull = open.bytes >= segmentBytes;
      const isOld =
        replayWindowMs > 0 &&
        open.segment.length > 0 &&
        clock.now() - open.segment.openedAtMs >= replayWindowMs / windowsPerSegment;
      const isOutdated = open.sealing?.keyId !== keys?.current.id;
      if (!isFull && !isOld && !isOutdated) return open;
    }
    return this.#rotate();
  }

  #rotate(): OpenSegment {
    const { id, segments, settings } = this.#journal;
    const { fs, clock, segmentBytes } = settings;
    const number = this.#nextSegment;
    const segment = new Segment(number, segmentSalt(id, number), clock.now());
    const fd = this.#createFile(segment);
    const before = this.#open;
    const isCounted = !fs.isRemoved(fd);
    segments.push(segment);
    this.#open = {
      fd,
      isCounted,
      salt: segment.salt,
      sealing: segment.sealing,
      notedAt: 0,
      segment,
      get bytes() {
        return segment.bytes;
      },
      set bytes(bytes) {
        segment.bytes = bytes;
      },
      reserved: 0,
      maxBytes: segmentBytes,
    };
    this.#openIsBroken = false;
    if (before !== undefined) {
      dropReserve(fs, before);
      this.commit.retire(before.fd);
    }
    this.commit.use(fd);
    this.commit.folderChanged(this.#journal.folder);
    return this.#open;
  }

  /** Creates the file, under the next number, with its first bytes. */
  #createFile(segment: Segment): number {
    const { fs, keys } = this.#journal.settings;
    const path = this.#journal.pathOf(segment);
    let fd: number | undefined;
    try {
      const place = placeOf(this.#journal.id, segment.number);
      segment.sealing = keys && Sealing.make(keys.current, place);
      const bytes = encodeBeginning(segment.salt, segment.sealing);
      fd = fs.openSync(path, 'wx');
      // Never reused: a file that could not be removed must not block a name forever.
      this.#nextSegment++;
      for (let at = 0; at < bytes.length;) {
        at += fs.writeSync(fd, bytes, at, bytes.length - at, at);
      }
      segment.bytes = bytes.length;
      return fd;
    } catch (error) {
      if (fd !== undefined) {
        close(fs, fd);
        remove(fs, path);
      } else if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
        this.#nextSegment++;
      }
      throw this.trouble(`The segment ${path} cannot be opened`, error);
    }
  }

  #confirm({ fd, isCounted }: CommitTarget): void {
    this.#journal.confirm();
    if (isCounted && this.#journal.settings.fs.isRemoved(fd)) throw new RemovedError();
  }

  #writeFailed(error: unknown, segmentIsBroken: boolean): DeferError {
    const isRemoved = error instanceof RemovedError;
    this.#openIsBroken ||= segmentIsBroken || isRemoved;
    this.#events.lost();
    const failure = this.trouble(`The journal ${this.#journal.folder} cannot be written`, error);
    if (isRemoved) this.#journal.removed(error);
    return failure;
  }

  /*
   * After a failed sync the kernel may have discarded the pages and report the next sync as a success. So nothing more
   * is written after them: a new segment begins, and the waiters learn that the level was not reached. On a disk
   * that never syncs that would be a file for every job; frames after damage are found, so one a second is enough.
   */
  #syncFailed(error: unknown): DeferError {
    const { folder, settings } = this.#journal;
    const now = settings.clock.now();
    if (now - this.#distrustedAtMs >= distrustEveryMs) {
      this.#distrustedAtMs = now;
      this.#openIsBroken = true;
    }
    this.#isSyncFailing = true;
    return this.trouble(`The journal ${folder} cannot be synced`, error);
  }

  #worked(): void {
    this.#events.written();
    if (!this.#openIsBroken && !this.#isSyncFailing) this.#recovered();
  }

  #synced(): void {
    this.#isSyncFailing = false;
    if (!this.#openIsBroken) this.#recovered();
  }

  #recovered(): void {
    if (this.#troubledSinceMs === undefined) return;
    const { settings } = this.#journal;
    const afterMs = settings.clock.now() - this.#troubledSinceMs;
    this.#troubledSinceMs = undefined;
    settings.recovered(afterMs);
  }
}
