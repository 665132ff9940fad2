import { basename, join } from 'node:path';
import { DeferError, journalError } from '../errors.ts';
import { checkFolder, openAll, JournalKeys, newestSealed, openKeys } from './journal-keys.ts';
import { FileDeadLetters, isLetter } from './dead-letters.ts';
import { holdAliveSocket, removeDeadSockets, OwnerWatch } from './owner-watch.ts';
import { type JournalFs, makeOwnFolder } from './journal-fs.ts';
import { Intervals } from '../clock.ts';
import { Journal, type JournalSettings } from './journal.ts';
import {
  freeOwner,
  giveLifeSign,
  lifeSign,
  lifeSignEveryMs,
  makeJournalId,
  parseFolderName,
  thisOwner,
} from './owner.ts';
import type { Sealed } from './sealed-frames.ts';
import { isPromise } from '../validate.ts';
import { recoverFolder } from './recover-folder.ts';
import type { Damage } from './recover.ts';

export interface JournalRootHost {
  /** True if this process can deliver jobs of the sink. */
  hasSink(name: string): boolean;
  /** Called when the jobs of an exited process's journal have been adopted. */
  adopted(journal: Journal): void;
  /** Called when this process gives up an adopted journal. */
  finished(journal: Journal): void;
  damaged(damage: Damage): void;
  warn(error: DeferError): void;
}

export interface JournalRootSettings<Waiter = unknown> extends Omit<
  JournalSettings<Waiter>,
  'removed'
> {
  readonly directory: string;
  /** Interval between the checks of the folders of other processes, in milliseconds. */
  readonly adoptEveryMs: number;
  /** Time without a sign of life after which a folder of another container or host counts as orphaned. */
  readonly strangerTimeoutMs: number;
  /** Bytes of all journals of this process, own and adopted. */
  readonly maxBytes: number;
  /** Time limit of a sync, after which the wait for it ends, in milliseconds. */
  readonly syncTimeoutMs: number;
}

const maintainEveryMs = 500;
/** Stands for all ids among those that could not be adopted: none of them could be seen. */
const wholeDirectory = '';

/** The directory of journals: this process's own, those it has adopted, and the dead letters of all. */
export class JournalRoot<Waiter = unknown> {
  readonly own: Journal<Waiter>;
  readonly deadLetters: FileDeadLetters;
  readonly #keys: JournalKeys | undefined;
  readonly #settings: JournalRootSettings<Waiter>;
  readonly #journalSettings: JournalSettings<Waiter>;
  readonly #host: JournalRootHost;
  readonly #adopted: Journal<Waiter>[] = [];
  readonly #owners: OwnerWatch;
  readonly #closeAliveSocket: () => void;
  /** Ids of journals that could not be adopted, which was reported. */
  readonly #refused = new Set<string>();
  /** Ids of journals whose remaining jobs are for other processes only. */
  readonly #leftToOthers = new Set<string>();
  readonly #intervals: Intervals;
  #scanning: Promise<void> | undefined;
  /** True if the disk had no room for this process's own folder. */
  #hasNoFolder = false;
  #isClosed = false;

  /**
   * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: the directory cannot be created or written
   * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL_VERSION, _SEAL
   */
  constructor(settings: JournalRootSettings<Waiter>, host: JournalRootHost) {
    this.#settings = settings;
    this.#host = host;
    const { fs, directory, clock, keys } = settings;
    this.#owners = new OwnerWatch(directory, clock, settings.strangerTimeoutMs);
    this.#intervals = new Intervals(clock);
    const deadFolder = join(directory, 'dead');
    let id: string;
    let folder: string;
    let full: unknown;
    let closeAliveSocket: (() => void) | undefined;
    let opening: void | Promise<void>;
    try {
      fs.mkdirSync(directory);
      const others = this.#folders();
      const sealed = others.flatMap((name) => this.#check(name));
      const letters = readOr(fs, deadFolder).filter(isLetter);
      this.deadLetters = new FileDeadLetters(deadFolder, letters.length, keys);
      sealed.push(...newestSealed(deadFolder, letters));
      opening = openKeys(sealed, keys);
      id = makeJournalId(clock.wall(), others);
      folder = join(directory, `${id}~${thisOwner}`);
      // Before the folder, whose owner it stands for.
      closeAliveSocket = holdAliveSocket(directory);
      // Jobs of exited processes may be what fills the disk: they are adopted even without an own folder.
      full = this.#createOwnFolder(folder);
    } catch (cause) {
      closeAliveSocket?.();
      if (cause instanceof DeferError) throw cause;
      throw new DeferError(
        'ERR_REDLINE_DEFER_JOURNAL',
        `The journal's directory ${directory} cannot be used: ${(cause as Error).message}.`,
        { cause },
      );
    }
    this.#closeAliveSocket = closeAliveSocket;
    this.#journalSettings = {
      ...settings,
      removed: (journal, cause) => this.#lookAfter(journal, cause),
    };
    this.own = new Journal(id, folder, this.#journalSettings);
    if (keys !== undefined) {
      const kept = 'New records are sealed with the previous key';
      this.#keys = new JournalKeys(keys, opening, this.deadLetters, (cause) =>
        this.#warn(kept, cause),
      );
      this.#intervals.every(keys.renewEveryMs, () => void this.#keys?.renew());
    }
    if (full !== undefined) this.#reportMissingFolder(full);
    this.#intervals.every(maintainEveryMs, () => this.#maintain());
    this.#intervals.every(lifeSignEveryMs, () => this.#giveLifeSigns());
    this.#intervals.every(settings.adoptEveryMs, () => void this.adoptOrphans());
  }

  /**
   * With keys: resolves when those of all sealed files are known to be right. Nothing can be journaled before. Rejects with
   * ERR_REDLINE_DEFER_SEAL.
   */
  get opened(): Promise<void> | undefined {
    return this.#keys?.opened;
  }

  /* Returns the error of a full disk. @throws any other error */
  #createOwnFolder(folder: string): unknown {
    const { fs, directory } = this.#settings;
    const full = makeOwnFolder(fs, directory, folder);
    this.#hasNoFolder = full !== undefined;
    return full;
  }

  #reportMissingFolder(cause: unknown): void {
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

  /** Returns false if the quota is used up, even after the replay windows are given up for it. */
  hasRoom(): boolean {
    if (this.bytes < this.#settings.maxBytes) return true;
    for (const journal of this.journals) {
      if (journal.giveUpOldestReplayWindow()) this.#maintain();
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

  /** Adopts the journals of all exited processes. Resolves when they are read. */
  adoptOrphans(): Promise<void> {
    this.#scanning ??= this.#adoptOrphans().finally(() => {
      this.#scanning = undefined;
    });
    return this.#scanning;
  }

  /** Resolves with true if the process of this folder has ended, and everything it left is in this process, or in another one. */
  async isGone(folder: string): Promise<boolean> {
    const { fs, directory } = this.#settings;
    if (folder === basename(this.own.folder)) return false;
    const names = fs.readdirSync(directory);
    if (names.includes(folder) && !(await this.#owners.isOrphan(folder, names))) return false;
    await this.adoptOrphans();
    return !this.#isClosed;
  }

  /** Releases everything: finished journals are removed, the rest is left for the next process. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#scanning;
    for (const journal of this.journals) journal.endTries();
    await Promise.all(this.journals.map((journal) => journal.whenIdle()));
    this.releaseSync();
  }

  /** Releases everything synchronously, when the process exits. */
  releaseSync(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#intervals.stop();
    for (const journal of this.journals) this.#release(journal);
    this.#closeAliveSocket();
  }

  #release(journal: Journal<Waiter>): void {
    const { fs, directory } = this.#settings;
    if (journal === this.own && this.#hasNoFolder) return;
    try {
      if (journal.release()) fs.rmdirSync(journal.folder);
      else fs.renameSync(journal.folder, join(directory, `${journal.id}~${freeOwner}`));
    } catch (cause) {
      this.#warn(`The journal ${journal.folder} cannot be released`, cause);
    }
  }

  async #adoptOrphans(): Promise<void> {
    const { fs, directory } = this.#settings;
    if (this.#keys !== undefined && !(await this.#keys.isOpen())) return;
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
        // Retried: too many open files, for example, may be over by then.
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
    // First, so that a newer journal, or one whose key is unknown here, stays free for another process.
    const opening = openAll(this.#check(name), this.#settings.keys);
    if (isPromise(opening)) await opening;
    if (this.#isClosed) return;
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
    const found = await recoverFolder(
      { fs, id, folder, names, keys: this.#settings.keys },
      directory,
      clock.now(),
      (damage) => this.#host.damaged(damage),
    );
    return new Journal(id, folder, this.#journalSettings, found);
  }

  #isElsewhere(id: string): boolean {
    return !this.#leftToOthers.has(id) && !this.journals.some((journal) => journal.id === id);
  }

  #maintain(): void {
    for (const journal of this.journals) {
      journal.giveUpOnSync(this.#settings.syncTimeoutMs);
      journal.endReplayWindows();
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
    journal.whenIdle().then(
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

  /* A file of it is gone: alone, or with the whole folder. */
  #lookAfter(journal: Journal<Waiter>, cause: unknown): void {
    if (lifeSign(journal.folder) === undefined) this.#lose(journal, cause);
  }

  /*
   * It was removed, or this process was suspended for so long that another one considered it dead. Its contents
   * now belong to that process.
   */
  #lose(journal: Journal<Waiter>, cause: unknown): void {
    journal.abandon();
    if (journal === this.own) {
      const hadNoFolder = this.#hasNoFolder;
      try {
        const full = this.#createOwnFolder(journal.folder);
        if (full !== undefined && !hadNoFolder) this.#reportMissingFolder(full);
        if (full !== undefined || hadNoFolder) return;
      } catch (error) {
        // Retried with the next sign of life; until then nothing is acknowledged.
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

  /* @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL_VERSION */
  #check(name: string): Sealed[] {
    return checkFolder(this.#settings.fs, join(this.#settings.directory, name));
  }

  #warn(sentence: string, cause: unknown): void {
    this.#host.warn(journalError(sentence, cause));
  }
}

function readOr(fs: JournalFs, folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
