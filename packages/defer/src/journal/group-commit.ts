import { frameHeaderBytes, sealFrame, type FrameKind } from './frame.ts';
import { close, type JournalFs } from './journal-fs.ts';
import { reserveAhead } from './reserve.ts';

/** Who waits for what it wrote. Called once, with an error when that level was not reached. */
export interface CommitWaiter {
  committed(error: unknown): void;
}

/** An open segment, as far as writing goes. */
export interface CommitTarget {
  readonly fd: number;
  readonly salt: number;
  /** What `write` has taken so far. */
  bytes: number;
  /** How far the file is filled with zeros to write over; nothing beyond `bytes` where it is less. */
  reserved: number;
  /** It is left for a new one when it has so many. */
  readonly maxBytes: number;
}

export interface GroupCommitHost {
  /** The segment the next buffer goes to: the same, or a new one when it is time. @throws when none can be opened */
  target(): CommitTarget;
  /** Called before a buffer is written: the last chance to add to it. */
  beforeWrite(): void;
  /** A buffer could not be written, and nothing of it is in the segment. */
  writeFailed(error: unknown, segmentIsBroken: boolean): void;
  syncFailed(error: unknown): void;
  /** A buffer is written. */
  worked(): void;
  /** What was written before is synced. */
  synced(): void;
}

/** A buffer that had to grow beyond this is not kept. */
const keptBufferBytes = 4 << 20;

/**
 * Gathers frames and writes them once per turn of the event loop, in the check phase: every request the turn has
 * read shares the call. A sync commits whatever was written while the one before it ran; it needs no timer, which
 * could only add latency.
 */
export class GroupCommit {
  readonly #fs: JournalFs;
  readonly #host: GroupCommitHost;
  #buffer = Buffer.allocUnsafeSlow(64 << 10);
  #used = 0;
  #target: CommitTarget | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #writeWaiters: CommitWaiter[] = [];
  #syncWaiters: CommitWaiter[] = [];
  /** Written, and in need of a sync that has not begun. */
  #unsynced: CommitWaiter[] = [];
  #currentFd: number | undefined;
  readonly #retired: number[] = [];
  #folderFd: number | undefined;
  #folderIsDirty = false;
  #syncing = false;
  #idle: (() => void)[] = [];

  constructor(fs: JournalFs, host: GroupCommitHost) {
    this.#fs = fs;
    this.#host = host;
  }

  /** Adds one frame. @throws when there is no segment to add to */
  add(kind: FrameKind, number: number, payload: string): void {
    const target = (this.#target ??= this.#host.target());
    const room = this.#used + frameHeaderBytes + payload.length * 3;
    if (room > this.#buffer.length) this.#grow(room);
    const payloadBytes = this.#buffer.write(payload, this.#used + frameHeaderBytes, 'utf8');
    this.#used = sealFrame(this.#buffer, this.#used, kind, number, payloadBytes, target.salt);
    this.schedule();
  }

  /** Has `beforeWrite` called at the end of this turn, even if nothing was added yet. */
  schedule(): void {
    this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** Tells when what was added last is written (`'process'`) or synced (`'disk'`). */
  wait(level: 'process' | 'disk', waiter: CommitWaiter): void {
    (level === 'disk' ? this.#syncWaiters : this.#writeWaiters).push(waiter);
    this.schedule();
  }

  get hasUnwritten(): boolean {
    return this.#used > 0;
  }

  flush(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    this.#host.beforeWrite();
    const writeWaiters = this.#writeWaiters;
    const syncWaiters = this.#syncWaiters;
    this.#writeWaiters = [];
    this.#syncWaiters = [];
    const error = this.#write(syncWaiters.length > 0);
    if (error === undefined) this.#unsynced.push(...syncWaiters);
    else tell(syncWaiters, error);
    // First: the disk works while the replies go out.
    this.#sync();
    tell(writeWaiters, error);
  }

  /** The segment `target` gives out from now on. */
  use(fd: number): void {
    this.#currentFd = fd;
  }

  /** The segment is not written to any more: it is synced once more, and closed. */
  retire(fd: number): void {
    this.#retired.push(fd);
    this.#target = undefined;
    this.schedule();
  }

  /** A file was made in the folder, which is as lost as its content until the folder itself is synced. */
  folderChanged(path: string): void {
    this.#folderIsDirty = true;
    try {
      this.#folderFd ??= this.#fs.openSync(path, 'r');
    } catch {
      // Windows opens no folders; its file system journals them itself.
    }
  }

  /** The folder has another name, or none. */
  folderGone(): void {
    if (this.#folderFd !== undefined) close(this.#fs, this.#folderFd);
    this.#folderFd = undefined;
  }

  /** Resolves when everything added is written and synced, or has failed. */
  async settled(): Promise<void> {
    this.flush();
    while (this.#syncing || this.#unsynced.length > 0) {
      await new Promise<void>((resolve) => void this.#idle.push(resolve));
    }
  }

  /** Writes and syncs on the spot: for the exit of the process. */
  flushSync(): void {
    this.flush();
    for (const each of [...this.#retired, this.#currentFd]) {
      if (each === undefined) continue;
      try {
        this.#fs.fdatasyncSync(each);
      } catch (error) {
        this.#host.syncFailed(error);
      }
    }
  }

  close(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    for (const fd of [...this.#retired.splice(0), this.#folderFd]) {
      if (fd !== undefined) close(this.#fs, fd);
    }
    this.#folderFd = undefined;
  }

  #write(isSynced: boolean): unknown {
    const length = this.#used;
    const target = this.#target;
    this.#used = 0;
    this.#target = undefined;
    if (length === 0 || target === undefined) return undefined;
    try {
      for (let at = 0; at < length;) {
        at += this.#fs.writeSync(target.fd, this.#buffer, at, length - at, target.bytes + at);
      }
      target.bytes += length;
      if (isSynced) reserveAhead(this.#fs, target);
    } catch (error) {
      this.#host.writeFailed(error, !this.#cutBack(target));
      return error;
    }
    if (this.#buffer.length > keptBufferBytes) this.#buffer = Buffer.allocUnsafeSlow(64 << 10);
    this.#host.worked();
    return undefined;
  }

  /* Half a buffer must not stay: the next one would follow on a torn frame. */
  #cutBack(target: CommitTarget): boolean {
    try {
      this.#fs.ftruncateSync(target.fd, target.bytes);
      target.reserved = 0;
      return true;
    } catch {
      return false;
    }
  }

  #sync(): void {
    if (this.#syncing || (this.#unsynced.length === 0 && this.#retired.length === 0)) return;
    const waiters = this.#unsynced;
    const retired = this.#retired.splice(0);
    this.#unsynced = [];
    const fds = new Set(retired);
    const current = this.#currentFd;
    if (current !== undefined && waiters.length > 0) fds.add(current);
    if (this.#folderIsDirty && this.#folderFd !== undefined) fds.add(this.#folderFd);
    this.#folderIsDirty = false;
    this.#syncing = true;
    let left = fds.size;
    let failure: unknown;
    const ended = (): void => {
      this.#syncing = false;
      for (const fd of retired) close(this.#fs, fd);
      if (failure !== undefined) {
        // What was written meanwhile may lie in the very pages that failed, and the next sync would not say so again.
        waiters.push(...this.#unsynced.splice(0));
        this.#host.syncFailed(failure);
      } else if (fds.size > 0) {
        this.#host.synced();
      }
      // First: the disk works while the replies go out.
      this.#sync();
      tell(waiters, failure);
      if (this.#syncing) return;
      const idle = this.#idle;
      this.#idle = [];
      for (const resolve of idle) resolve();
    };
    if (left === 0) return ended();
    for (const fd of fds) {
      this.#fs.fdatasync(fd, (error) => {
        failure ??= error ?? undefined;
        if (--left === 0) ended();
      });
    }
  }

  #grow(room: number): void {
    const buffer = Buffer.allocUnsafeSlow(Math.max(room, this.#buffer.length * 2));
    this.#buffer.copy(buffer, 0, 0, this.#used);
    this.#buffer = buffer;
  }
}

function tell(waiters: readonly CommitWaiter[], error: unknown): void {
  for (const waiter of waiters) {
    try {
      waiter.committed(error);
    } catch (thrown) {
      // It is the app's own, from a reply that goes on here. The others must hear all the same.
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }
}
