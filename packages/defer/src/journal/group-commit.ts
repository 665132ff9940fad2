import type { DeferError } from '../errors.ts';
import type { CommitTarget } from './commit-target.ts';
import { frameHeaderBytes, sealFrame, type FrameKind } from './frame.ts';
import { close, isShortage, type JournalFs } from './journal-fs.ts';
import { reserveAhead } from './reserve.ts';

export interface GroupCommitHost<Waiter> {
  /** Monotonic milliseconds. */
  now(): number;
  /** The segment of the next buffer: the same, or a new one if it is due. @throws when none can be opened */
  target(): CommitTarget;
  /** Called before a buffer is written: the last chance to add to it. */
  beforeWrite(): void;
  /** Called after a write. @throws if the file was removed, or may be another process's: then the write does not count */
  confirm(target: CommitTarget): void;
  /** A buffer could not be written, and none of it is in the segment. */
  writeFailed(error: unknown, segmentIsBroken: boolean): DeferError;
  syncFailed(error: unknown): DeferError;
  /** A buffer is written. */
  worked(): void;
  /** Earlier writes are synced. */
  synced(): void;
  /** The waiters' frames are written or synced or, with an error, are not. Must not throw. */
  committed(waiters: readonly Waiter[], error: unknown): void;
}

/** A buffer that grew beyond this is not reused. */
const keptBufferBytes = 4 << 20;

/**
 * Gathers frames and writes them once per turn of the event loop, in the check phase: all requests read in the turn
 * share the call. A sync commits everything written during the previous one; it needs no timer, which could only add
 * latency.
 */
export class GroupCommit<Waiter = unknown> {
  readonly #fs: JournalFs;
  readonly #host: GroupCommitHost<Waiter>;
  #buffer = Buffer.allocUnsafeSlow(64 << 10);
  #used = 0;
  #target: CommitTarget | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #writeWaiters: Waiter[] = [];
  #syncWaiters: Waiter[] = [];
  /** Written, and in need of a sync that has not begun. */
  #unsynced: Waiter[] = [];
  #currentFd: number | undefined;
  readonly #retired: number[] = [];
  #folder: string | undefined;
  #folderFd: number | undefined;
  #folderIsDirty = false;
  #syncing = false;
  /** What the sync that runs is for. */
  #inSync: Waiter[] = [];
  #syncBeganAtMs = 0;
  /** The reason why nobody waits for the running sync any longer: it takes too long. */
  #stuck: DeferError | undefined;
  #idle: (() => void)[] = [];

  constructor(fs: JournalFs, host: GroupCommitHost<Waiter>) {
    this.#fs = fs;
    this.#host = host;
  }

  /** Adds one frame, and returns its place in the segment. @throws if there is no segment */
  add(kind: FrameKind, number: number, payload: string): number {
    const target = (this.#target ??= this.#host.target());
    const offset = target.bytes + this.#used;
    const room = this.#used + frameHeaderBytes + payload.length * 3;
    if (room > this.#buffer.length) this.#grow(room);
    const payloadBytes = this.#buffer.write(payload, this.#used + frameHeaderBytes, 'utf8');
    this.#used = sealFrame(this.#buffer, this.#used, kind, number, payloadBytes, target.salt);
    this.schedule();
    return offset;
  }

  /** Calls `beforeWrite` at the end of this turn, even if nothing has been added yet. */
  schedule(): void {
    this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** Notifies when the last frame is written (`'process'`) or synced (`'disk'`). */
  wait(level: 'process' | 'disk', waiter: Waiter): void {
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
    const syncError = error ?? this.#stuck;
    if (syncError === undefined) for (const waiter of syncWaiters) this.#unsynced.push(waiter);
    else this.#host.committed(syncWaiters, syncError);
    // First: the disk works while the responses go out.
    this.#sync();
    this.#host.committed(writeWaiters, error);
  }

  /** The segment that `target` returns from now on. */
  use(fd: number): void {
    this.#currentFd = fd;
  }

  /** The segment is no longer written: it is synced once more and closed. */
  retire(fd: number): void {
    this.#retired.push(fd);
    this.#target = undefined;
    this.schedule();
  }

  /** A file was made in the folder, which is as lost as its content until the folder itself is synced. */
  folderChanged(path: string): void {
    this.#folderIsDirty = true;
    this.#folder = path;
    // Together with the file, for which there was a descriptor just now: later there may be none. If it fails, the sync tries again.
    this.#openFolder();
  }

  /** The folder was renamed or removed. */
  folderGone(): void {
    if (this.#folderFd !== undefined) close(this.#fs, this.#folderFd);
    this.#folderFd = undefined;
  }

  /** Resolves when everything added is written and synced, or has failed. */
  async settled(): Promise<void> {
    this.flush();
    while ((this.#syncing && this.#stuck === undefined) || this.#unsynced.length > 0) {
      await new Promise<void>((resolve) => void this.#idle.push(resolve));
    }
  }

  /**
   * Nobody waits longer than `limitMs` for a sync. A disk that hangs may come back, and the call cannot be cancelled:
   * until it returns, jobs that need a sync are refused.
   */
  giveUpOnSync(limitMs: number): void {
    if (!this.#syncing || this.#stuck !== undefined) return;
    if (this.#host.now() - this.#syncBeganAtMs < limitMs) return;
    this.#stuck = this.#host.syncFailed(new Error(`It has not ended within ${limitMs} ms`));
    const waiters = [...this.#inSync.splice(0), ...this.#unsynced.splice(0)];
    this.#host.committed(waiters, this.#stuck);
    this.#tellIdle();
  }

  /** Writes and syncs on the spot: for the exit of the process. */
  flushSync(): void {
    this.flush();
    // Another call would hang like the one before it, and this thread with it.
    if (this.#stuck !== undefined) return;
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

  #write(isSynced: boolean): DeferError | undefined {
    const length = this.#used;
    const target = this.#target;
    this.#used = 0;
    this.#target = undefined;
    if (length === 0 || target === undefined) return undefined;
    try {
      for (let at = 0; at < length;) {
        at += this.#fs.writeSync(target.fd, this.#buffer, at, length - at, target.bytes + at);
      }
      // Behind the write: before it, the process could stand still in between.
      this.#host.confirm(target);
      target.bytes += length;
      if (isSynced) reserveAhead(this.#fs, target);
    } catch (error) {
      return this.#host.writeFailed(error, !this.#cutBack(target));
    }
    if (this.#buffer.length > keptBufferBytes) this.#buffer = Buffer.allocUnsafeSlow(64 << 10);
    this.#host.worked();
    return undefined;
  }

  /* Half a buffer must not stay: the next one would follow a torn frame. */
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
    this.#inSync = this.#unsynced;
    const retired = this.#retired.splice(0);
    this.#unsynced = [];
    const fds = new Set(retired);
    const current = this.#currentFd;
    if (current !== undefined && this.#inSync.length > 0) fds.add(current);
    let failure: unknown = this.#folderIsDirty ? this.#openFolder() : undefined;
    if (this.#folderIsDirty && this.#folderFd !== undefined) fds.add(this.#folderFd);
    this.#folderIsDirty = false;
    this.#syncing = true;
    this.#syncBeganAtMs = this.#host.now();
    let left = fds.size;
    const ended = (): void => {
      for (const fd of retired) close(this.#fs, fd);
      this.#synced(failure, fds.size > 0);
    };
    if (left === 0) return ended();
    for (const fd of fds) {
      this.#fs.fdatasync(fd, (error) => {
        failure ??= error ?? undefined;
        if (--left === 0) ended();
      });
    }
  }

  /* Returns why it could not be opened. Windows opens no folders; its file system journals them itself. */
  #openFolder(): unknown {
    try {
      this.#folderFd ??= this.#fs.openSync(this.#folder!, 'r');
      return undefined;
    } catch (error) {
      return isShortage(error) ? error : undefined;
    }
  }

  #synced(failure: unknown, isSomething: boolean): void {
    const waiters = this.#inSync;
    let error: DeferError | undefined;
    this.#inSync = [];
    this.#syncing = false;
    this.#stuck = undefined;
    if (failure !== undefined) {
      // What was written meanwhile may lie in the very pages that failed, and the next sync would not say so again.
      waiters.push(...this.#unsynced.splice(0));
      // It does not matter which of them failed: it may be the folder.
      this.#folderIsDirty = true;
      error = this.#host.syncFailed(failure);
    } else if (isSomething) {
      this.#host.synced();
    }
    this.#sync();
    this.#host.committed(waiters, error);
    if (!this.#syncing) this.#tellIdle();
  }

  #tellIdle(): void {
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  #grow(room: number): void {
    const buffer = Buffer.allocUnsafeSlow(Math.max(room, this.#buffer.length * 2));
    this.#buffer.copy(buffer, 0, 0, this.#used);
    this.#buffer = buffer;
  }
}
