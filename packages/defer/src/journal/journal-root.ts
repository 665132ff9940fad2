import { readSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Timer } from '../clock.ts';
import { DeferError } from '../errors.ts';
import { FileDeadLetters, isLetter } from './dead-letters.ts';
import { segmentHeaderBytes } from './frame.ts';
import { journalError } from './journal-error.ts';
import { holdAliveSocket, removeDeadSockets } from './alive-socket.ts';
import { close, syncFolder, type JournalFs } from './journal-fs.ts';
import { Journal, type JournalSettings, type KeyedRecord } from './journal.ts';
import type { JobRecord } from './job-record.ts';
import {
  freeOwner,
  giveLifeSign,
  lifeSign,
  lifeSignEveryMs,
  makeJournalId,
  parseFolderName,
  thisOwner,
} from './owner.ts';
import { Kinds } from './kinds.ts';
import { OwnerWatch } from './owner-watch.ts';
import { checkVersion, recoverJournal, segmentNumbers, type Damage } from './recover.ts';

export interface JournalRootHost {
  /** Whether this process can deliver jobs of the sink. */
  hasSink(name: string): boolean;
  /** The jobs of an exited process's journal are here now. */
  adopted(journal: Journal): void;
  /** An adopted journal is no longer needed. */
  finished(journal: Journal): void;
  damaged(damage: Damage): void;
  warn(error: DeferError): void;
}

export interface JournalRootSettings<Waiter = unknown> extends Omit<
  JournalSettings<Waiter>,
  'removed'
> {
  readonly directory: string;
  /** How often to check the folders of other processes, in milliseconds. */
  readonly adoptEveryMs: number;
  /** How long a folder of another container or host must show no life before it counts as orphaned. */
  readonly strangerTimeoutMs: number;
  /** Bytes of all journals of this process, own and adopted. */
  readonly maxBytes: number;
  /** How long a sync may take until nobody waits for it any longer, milliseconds. */
  readonly syncTimeoutMs: number;
}

const settleEveryMs = 500;
/** Among the ids that could not be adopted: none of them could be seen. */
const wholeDirectory = '';

/** The directory of journals: this process's own, those it has adopted, and the dead letters of all. */
export class JournalRoot<Waiter = unknown> {
  readonly own: Journal<Waiter>;
  readonly deadLetters: FileDeadLetters;
  readonly #settings: JournalRootSettings<Waiter>;
  readonly #journalSettings: JournalSettings<Waiter>;
  readonly #host: JournalRootHost;
  readonly #adopted: Journal<Waiter>[] = [];
  readonly #owners: OwnerWatch;
  readonly #letGo: () => void;
  /** Ids of journals that could not be adopted, which was reported. */
  readonly #refused = new Set<string>();
  /** Ids of journals in which others alone have something to do. */
  readonly #leftToOthers = new Set<string>();
  readonly #timers = new Set<Timer>();
  #scanning: Promise<void> | undefined;
  /** The disk had no room for the folder of its own. */
  #isHomeless = false;
  #isClosed = false;

  /**
   * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: the directory cannot be made or written
   * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL_VERSION
   */
  constructor(settings: JournalRootSettings<Waiter>, host: JournalRootHost) {
    this.#settings = settings;
    this.#host = host;
    const { fs, directory, clock } = settings;
    this.#owners = new OwnerWatch(directory, clock, settings.strangerTimeoutMs);
    const deadFolder = join(directory, 'dead');
    let id: string;
    let folder: string;
    let full: unknown;
    let letGo: (() => void) | undefined;
    try {
      fs.mkdirSync(directory);
      const others = this.#folders();
      for (const name of others) this.#checkVersion(join(directory, name));
      id = makeJournalId(clock.wall(), others);
      folder = join(directory, `${id}~${thisOwner}`);
      // Before the folder, which it stands for.
      letGo = holdAliveSocket(directory);
      // Jobs of exited processes may be what fills the disk: they are taken over without a folder of its own.
      full = this.#makeHome(folder);
      const dead = readOr(fs, deadFolder).filter(isLetter);
      this.deadLetters = new FileDeadLetters(deadFolder, dead.length);
    } catch (cause) {
      letGo?.();
      if (cause instanceof DeferError) throw cause;
      throw new DeferError(
        'ERR_REDLINE_DEFER_JOURNAL',
        `The journal's directory ${directory} cannot be used: ${(cause as Error).message}.`,
        { cause },
      );
    }
    this.#letGo = letGo;
    this.#journalSettings = {
      ...settings,
      removed: (journal, cause) => this.#lookAfter(journal, cause),
    };
    this.own = new Journal(id, folder, this.#journalSettings);
    if (full !== undefined) this.#tellHomeless(full);
    this.#every(settleEveryMs, () => this.#settle());
    this.#every(lifeSignEveryMs, () => this.#giveLifeSigns());
    this.#every(settings.adoptEveryMs, () => void this.adoptOrphans());
  }

  /* Returns the error of a full disk. @throws any other error */
  #makeHome(folder: string): unknown {
    const { fs, directory } = this.#settings;
    try {
      fs.mkdirSync(join(directory, 'dead'));
      fs.mkdirSync(folder);
      // Otherwise a power failure could lose the folder, and every synced segment with it.
      syncFolder(fs, directory);
      syncFolder(fs, dirname(directory));
    } catch (cause) {
      if (!isFull(cause)) throw cause;
      this.#isHomeless = true;
      return cause;
    }
    this.#isHomeless = false;
    return undefined;
  }

  #tellHomeless(cause: unknown): void {
    this.#warn(
      `The disk is too full for the folder ${this.own.folder}: jobs of exited processes are delivered, new ones are not journaled until there is room`,
      cause,
    );
  }

  get journals(): readonly Journal<Waiter>[] {
    return [this.own, ...this.#adopted];
  }

  get bytes(): number {
    let { bytes } = this.own;
    for (const journal of this.#adopted) bytes += journal.bytes;
    return bytes;
  }

  /** False when the quota is used up, even after the replay windows are given up for it. */
  hasRoom(): boolean {
    if (this.bytes < this.#settings.maxBytes) return true;
    for (const journal of this.journals) {
      if (journal.settleOldest()) this.#settle();
    }
    return this.bytes < this.#settings.maxBytes;
  }

  /** Discards the oldest jobs of the sink that are only on disk, a segment's worth. */
  dropOldest(sink: string): { journal: Journal; jobs: number } | undefined {
    for (const journal of [...this.#adopted, this.own]) {
      const jobs = journal.dropOldest(sink);
      if (jobs > 0) return { journal, jobs };
    }
    return undefined;
  }

  /** Takes over every journal of an exited process. Resolves when they are read. */
  adoptOrphans(): Promise<void> {
    this.#scanning ??= this.#adoptOrphans().finally(() => {
      this.#scanning = undefined;
    });
    return this.#scanning;
  }

  /** The process of this folder has ended, and everything that it left is here, or at another one. */
  async isGone(folder: string): Promise<boolean> {
    const { fs, directory } = this.#settings;
    if (folder === basename(this.own.folder)) return false;
    const names = fs.readdirSync(directory);
    if (names.includes(folder) && !(await this.#owners.isOrphan(folder, names))) return false;
    await this.adoptOrphans();
    return !this.#isClosed;
  }

  /** Releases everything: finished journals are removed, the rest is for the next process. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#scanning;
    for (const journal of this.journals) journal.endTries();
    await Promise.all(this.journals.map((journal) => journal.settled()));
    this.releaseSync();
  }

  /** The same synchronously, when the process exits. */
  releaseSync(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    for (const journal of this.journals) this.#release(journal);
    this.#letGo();
  }

  #release(journal: Journal<Waiter>): void {
    const { fs, directory } = this.#settings;
    if (journal === this.own && this.#isHomeless) return;
    try {
      if (journal.release()) fs.rmdirSync(journal.folder);
      else fs.renameSync(journal.folder, join(directory, `${journal.id}~${freeOwner}`));
    } catch (cause) {
      this.#warn(`The journal ${journal.folder} cannot be released`, cause);
    }
  }

  async #adoptOrphans(): Promise<void> {
    const { fs, directory } = this.#settings;
    let names: string[];
    try {
      names = fs.readdirSync(directory).sort();
      this.#refused.delete(wholeDirectory);
    } catch (cause) {
      if (this.#refused.has(wholeDirectory)) return;
      this.#refused.add(wholeDirectory);
      return this.#warn(`The journal's directory cannot be read`, cause);
    }
    for (const name of names) {
      if (this.#isClosed) return;
      const id = parseFolderName(name)?.id;
      if (id === undefined || !this.#isElsewhere(id)) continue;
      try {
        if (!(await this.#owners.isOrphan(name, names)) || this.#isClosed) continue;
        await this.#adopt(name, id);
        this.#refused.delete(id);
      } catch (error) {
        // It is retried: too many open files, for example, may be over by then.
        if (this.#refused.has(id)) continue;
        this.#refused.add(id);
        if (error instanceof DeferError) this.#host.warn(error);
        else this.#warn(`The journal ${name} cannot be adopted yet`, error);
      }
    }
    // A directory that was removed meanwhile is reported by its journals.
    await removeDeadSockets(directory).catch(() => {});
  }

  async #adopt(name: string, id: string): Promise<void> {
    const { fs, directory } = this.#settings;
    // First, so that a newer journal stays free for a newer process.
    this.#checkVersion(join(directory, name));
    const folder = join(directory, `${id}~${thisOwner}`);
    try {
      fs.renameSync(join(directory, name), folder);
    } catch {
      return; // Another process was faster.
    }
    let journal: Journal<Waiter>;
    try {
      journal = await this.#recover(id, folder);
    } catch (error) {
      fs.renameSync(folder, join(directory, `${id}~${freeOwner}`));
      throw error;
    }
    this.#adopted.push(journal);
    if (this.#isClosed) return this.#release(journal);
    this.#host.adopted(journal);
    if (journal.isFinished) this.#drop(journal);
  }

  async #recover(id: string, folder: string): Promise<Journal<Waiter>> {
    const { fs, directory, clock } = this.#settings;
    giveLifeSign(folder);
    const names = fs.readdirSync(folder);
    const kinds = new Kinds();
    const journal = { fs, id, folder, names };
    const keyed: KeyedRecord[] = [];
    const found = await recoverJournal(journal, clock.now(), (number, record) => {
      kinds.see(record);
      if (record.onDuplicate !== undefined) keyed.push({ number, record: withoutData(record) });
    });
    for (const damage of found.damages) {
      this.#host.damaged(damage);
      // Damaged data is kept for inspection: the segment itself is deleted when its jobs are done.
      if (damage.kind === 'damaged' || damage.kind === 'header' || damage.kind === 'cut') {
        await keepDamaged(damage.file, directory, id);
      } else if (damage.kind === 'unreadable') {
        // It would prevent removing the folder. Its name says where it belongs, if it becomes readable again.
        fs.renameSync(damage.file, join(directory, damagedName(damage.file, id)));
      }
    }
    return new Journal(id, folder, this.#journalSettings, {
      ...found,
      kinds: kinds.waiting(found.segments),
      keyed,
    });
  }

  #isElsewhere(id: string): boolean {
    return !this.#leftToOthers.has(id) && !this.journals.some((journal) => journal.id === id);
  }

  #settle(): void {
    for (const journal of this.journals) {
      journal.giveUpOnSync(this.#settings.syncTimeoutMs);
      journal.settle();
    }
    const { hasSink } = this.#host;
    for (const journal of this.#adopted.filter((each) => each.hasNothingFor(hasSink))) {
      // Another version of the app may have the sink, and may run beside this one.
      if (!journal.isFinished) this.#leftToOthers.add(journal.id);
      this.#drop(journal);
    }
  }

  #drop(journal: Journal<Waiter>): void {
    this.#adopted.splice(this.#adopted.indexOf(journal), 1);
    this.#host.finished(journal);
    // Its marks may be in a write; they are no longer needed.
    journal.settled().then(
      () => this.#release(journal),
      () => this.#release(journal),
    );
  }

  #giveLifeSigns(): void {
    for (const journal of this.journals) {
      try {
        journal.giveLifeSign();
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') this.#lose(journal, cause);
        else this.#warn(`The journal ${journal.folder} cannot be reached`, cause);
      }
    }
  }

  /* A file of it is gone: alone, or with all of the folder. */
  #lookAfter(journal: Journal<Waiter>, cause: unknown): void {
    if (lifeSign(journal.folder) === undefined) this.#lose(journal, cause);
  }

  /*
   * Somebody has removed it, or this process stood still for so long that another considered it dead. Its contents
   * belong to that one now.
   */
  #lose(journal: Journal<Waiter>, cause: unknown): void {
    journal.abandon();
    if (journal === this.own) {
      const wasHomeless = this.#isHomeless;
      try {
        const full = this.#makeHome(journal.folder);
        if (full !== undefined && !wasHomeless) this.#tellHomeless(full);
        if (full !== undefined || wasHomeless) return;
      } catch (error) {
        // It is tried again with the next sign of life; until then nothing is acknowledged.
        return this.#warn(
          `The journal ${journal.folder} was removed, and cannot be made again`,
          error,
        );
      }
    } else {
      this.#adopted.splice(this.#adopted.indexOf(journal), 1);
      this.#host.finished(journal);
    }
    this.#warn(
      `The journal ${journal.folder} was removed, or taken over while this process stood still; its jobs may run twice, and new ones go to a new file`,
      cause,
    );
  }

  #folders(): string[] {
    return this.#settings.fs
      .readdirSync(this.#settings.directory)
      .filter((name) => parseFolderName(name) !== undefined)
      .sort();
  }

  #checkVersion(folder: string): void {
    const { fs } = this.#settings;
    let names: string[];
    try {
      names = fs.readdirSync(folder);
    } catch {
      return; // Its process has just finished with it.
    }
    for (const name of names.filter((each) => segmentNumbers([each]).length > 0)) {
      const file = join(folder, name);
      const header = Buffer.alloc(segmentHeaderBytes);
      let fd: number | undefined;
      try {
        fd = fs.openSync(file, 'r');
        readSync(fd, header);
      } catch {
        continue; // As above; what cannot be read is reported when the journal is adopted.
      } finally {
        if (fd !== undefined) close(fs, fd);
      }
      checkVersion(header, file);
    }
  }

  #every(ms: number, work: () => void): void {
    let timer: Timer;
    const again = (): void => {
      this.#timers.delete(timer);
      if (this.#isClosed) return;
      timer = this.#settings.clock.after(
        ms,
        () => {
          work();
          again();
        },
        false,
      );
      this.#timers.add(timer);
    };
    again();
  }

  #warn(sentence: string, cause: unknown): void {
    this.#host.warn(journalError(sentence, cause));
  }
}

function withoutData(record: JobRecord): KeyedRecord['record'] {
  const { id, sink, job, key, deferredAtMs, runAtMs, onDuplicate } = record;
  return { id, sink, job, key, deferredAtMs, runAtMs, onDuplicate };
}

function isFull(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function readOr(fs: JournalFs, folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function damagedName(file: string, id: string): string {
  return `damaged-${id}-${basename(file)}`;
}

async function keepDamaged(file: string, directory: string, id: string): Promise<void> {
  try {
    await copyFile(file, join(directory, damagedName(file, id)));
  } catch {
    // No room for it; the damage itself was reported.
  }
}
