import type { DeferError } from '../errors.ts';
import { type CommitTarget, reserveAhead } from './commit-target.ts';
import { frameHeaderBytes, frameKinds, sealFrame, type FrameKind } from './frame.ts';
import { close, isShortage, type JournalFs } from './journal-fs.ts';
import { sealBytes, type Sealing } from '../seal/sealing.ts';

export interface GroupCommitHost<Waiter> {
  /** Monotonic milliseconds. */
  now(): number;
  /** Returns the segment of the next buffer: the same, or a new one if it is due. @throws when none can be opened */
  target(): CommitTarget;
  /** Called before a buffer is written: the last chance to add to it. */
  beforeWrite(): void;
  /** Called after a write. @throws if the file was removed, or may be another process's: then the write does not count */
  confirm(target: CommitTarget): void;
  /** Called if a buffer could not be written, and none of it is in the segment. */
  writeFailed(error: unknown, segmentIsBroken: boolean): DeferError;
  syncFailed(error: unknown): DeferError;
  /** Called when a buffer is written. */
  worked(): void;
  /** Called when earlier writes are synced. */
  synced(): void;
  /** Called when the waiters' frames are written or synced or, with an error, are not. Must not throw. */
  committed(waiters: readonly Waiter[], error: unknown): void;
}

/** A buffer that grew beyond this is not reused. */
const keptBufferBytes = 4 << 20;
/** Every job of a sealed segment depends on its note: a bad sector must not take all of them. */
const noteEveryBytes = 16 << 10;

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
  /** Waiters whose frames are written and need a sync that has not begun. */
  #unsynced: Waiter[] = [];
  #currentFd: number | undefined;
  readonly #retired: number[] = [];
  #folder: string | undefined;
  #folderFd: number | undefined;
  #folderIsDirty = false;
  #syncing = false;
  /** Waiters of the running sync. */
  #inSync: Waiter[] = [];
  #syncBeganAtMs = 0;
  /** The reason why the wait for the running sync was given up: it takes too long. */
  #stuck: DeferError | undefined;
  #idle: (() => void)[] = [];

  constructor(fs: JournalFs, host: GroupCommitHost<Waiter>) {
    this.#fs = fs;
    this.#host = host;
  }

  /** Adds one frame, and returns its place in the segment. @throws if no segment can be opened */
  add(kind: FrameKind, number: number, payload: string): number {
    const target = (this.#target ??= this.#host.target());
    const { sealing } = target;
    this.schedule();
    if (sealing === undefined || kind !== frameKinds.job) {
      return this.#put(target, kind, number, payload);
    }
    if (target.bytes + this.#used - target.notedAt >= noteEveryBytes) {
      target.notedAt = this.#put(target, frameKinds.seal, 0, JSON.stringify(sealing.note));
    }
    return this.#put(target, frameKinds.sealedJob, number, payload, sealing);
  }

  #put(
    target: CommitTarget,
    kind: FrameKind,
    number: number,
    payload: string,
    sealing?: Sealing,
  ): number {
    const offset = target.bytes + this.#used;
    const at = this.#used + frameHeaderBytes;
    const room = at + payload.length * 3 + sealBytes;
    if (room > this.#buffer.length) this.#grow(room);
    const payloadBytes =
      sealing === undefined
        ? this.#buffer.write(payload, at, 'utf8')
        : sealing.write(payload, this.#buffer, at, number, offset);
    this.#used = sealFrame(this.#buffer, this.#used, kind, number, payloadBytes, target.salt);
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

  /** Sets the segment that `target` returns from now on. */
  use(fd: number): void {
    this.#currentFd = fd;
  }

  /** Ends writing to the segment: it is synced once more and closed. */
  retire(fd: number): void {
    this.#retired.push(fd);
    this.#target = undefined;
    this.schedule();
  }

  /** Called when a file was created in the folder: until the folder itself is synced, the file can be lost like its content. */
  folderChanged(path: string): void {
    this.#folderIsDirty = true;
    this.#folder = path;
    // Opened together with the file, for which there was a descriptor just now: later there may be none left. If it fails, the
    // sync tries again.
    this.#openFolder();
  }

  /** Called when the folder was renamed or removed. */
  folderGone(): void {
    if (this.#folderFd !== undefined) close(this.#fs, this.#folderFd);
    this.#folderFd = undefined;
  }

  /** Resolves when everything added is written and synced, or has failed. */
  async whenIdle(): Promise<void> {
    this.flush();
    while ((this.#syncing && this.#stuck === undefined) || this.#unsynced.length > 0) {
      await new Promise<void>((resolve) => void this.#idle.push(resolve));
    }
  }

  /**
   * Ends the wait for a sync after `limitMs`. A disk that hangs may come back, and the call cannot be cancelled:
   * until it returns, jobs that need a sync are refused.
   */
  giveUpOnSync(limitMs: number): void {
    if (!this.#syncing || this.#stuck !== undefined) return;
    if (this.#host.now() - this.#syncBeganAtMs < limitMs) return;
    this.#stuck = this.#host.syncFailed(new Error(`It has not ended within ${limitMs} ms`));
    const waiters = [...this.#inSync.splice(0), ...this.#unsynced.splice(0)];
    this.#host.committed(waiters, this.#stuck);
    this.#notifyIdle();
  }

  /** Writes and syncs synchronously, for the exit of the process. */
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
      // After the write: otherwise the process could be suspended in between.
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

  /* A partial buffer must not stay: the next one would follow a torn frame. */
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

  /* Returns the reason if it could not be opened. Windows does not open folders; its file system journals them itself. */
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
      // Data written meanwhile may be in the very pages that failed, and the next sync would not report it again.
      waiters.push(...this.#unsynced.splice(0));
      // Any of them may have failed, the folder included.
      this.#folderIsDirty = true;
      error = this.#host.syncFailed(failure);
    } else if (isSomething) {
      this.#host.synced();
    }
    this.#sync();
    this.#host.committed(waiters, error);
    if (!this.#syncing) this.#notifyIdle();
  }

  #notifyIdle(): void {
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
