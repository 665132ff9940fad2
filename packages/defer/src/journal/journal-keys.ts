import { join, basename } from 'node:path';
import { isPromise } from '../validate.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { sealedLetter, type FileDeadLetters } from './dead-letters.ts';
import { readBeginning, type Sealed, load, open, sealedIn } from './sealed-frames.ts';
import type { JournalFs } from './journal-fs.ts';
import { parseFolderName } from './owner.ts';
import { checkVersion, segmentNumbers } from './recover.ts';

/** The keys of a sealed directory: those of all its files at the start, and the current one, which is renewed periodically. */
export class JournalKeys {
  /** Resolves when the keys of all sealed files are known to be right. Rejects with ERR_REDLINE_DEFER_SEAL. */
  readonly opened: Promise<void>;
  readonly renewEveryMs: number;
  readonly #keys: KeyRing;
  readonly #failed: (error: unknown) => void;
  /** True if the last renewal failed, which was reported. */
  #hasFailed = false;

  /**
   * @param opening The result of `openKeys`.
   * @param failed Called for the first of several renewals that fail.
   */
  constructor(
    keys: KeyRing,
    opening: void | Promise<void>,
    letters: FileDeadLetters,
    failed: (error: unknown) => void,
  ) {
    this.#keys = keys;
    this.#failed = failed;
    this.renewEveryMs = keys.renewEveryMs;
    this.opened = checkAll(opening, letters);
    // Reported by the deferrer, which waits for it.
    this.opened.catch(() => {});
  }

  /** Resolves with false if the keys are wrong. */
  isOpen(): Promise<boolean> {
    return this.opened.then(
      () => true,
      () => false,
    );
  }

  /** Fetches the key for new records. Nothing may be sealed before the keys of existing files are known to be right. */
  async renew(): Promise<void> {
    if (!(await this.isOpen())) return;
    try {
      await this.#keys.renew();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#failed(error);
      this.#hasFailed = true;
    }
  }
}

async function checkAll(opening: void | Promise<void>, letters: FileDeadLetters): Promise<void> {
  await opening;
  await letters.checkKeys();
}

/**
 * Fetches the keys of these files, and then the current one; waits only if the callbacks do.
 * @throws {DeferError} ERR_REDLINE_DEFER_SEAL
 */
export function openKeys(
  sealed: readonly Sealed[],
  keys: KeyRing | undefined,
): void | Promise<void> {
  const opening = openAll(sealed, keys);
  const all = isPromise(opening) ? opening.then(() => keys?.renew()) : keys?.renew();
  // The caller may fail before it awaits the promise.
  if (isPromise(all)) all.catch(() => {});
  return all;
}

/** Returns the newest dead letter, if it is sealed: it shows that the app seals. The others are read later. Names sort by time. */
export function newestSealed(folder: string, names: readonly string[]): Sealed[] {
  const newest = names.toSorted().at(-1);
  if (newest === undefined) return [];
  const file = join(folder, newest);
  try {
    const sealed = sealedLetter(file, readBeginning(file).toString());
    return sealed === undefined ? [] : [sealed];
  } catch {
    return []; // It is reported as unreadable, or was removed.
  }
}

/**
 * Reads the first bytes of each segment, and returns the sealed ones.
 * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL_VERSION
 */
export function checkFolder(fs: JournalFs, folder: string): Sealed[] {
  const { id } = parseFolderName(basename(folder))!;
  let names: string[];
  try {
    names = fs.readdirSync(folder);
  } catch {
    return []; // Its process has just removed it.
  }
  const sealed: Sealed[] = [];
  for (const name of names) {
    const [number] = segmentNumbers([name]);
    if (number === undefined) continue;
    const file = join(folder, name);
    let bytes: Buffer;
    try {
      bytes = readBeginning(file);
    } catch {
      continue; // As above; an unreadable file is reported when the journal is adopted.
    }
    checkVersion(bytes, file);
    const found = sealedIn(bytes, { id, number, file });
    if (found !== undefined) sealed.push(found);
  }
  return sealed;
}

/**
 * Fetches the keys of these files and checks that each is the right one. Waits only if the callbacks do.
 * @throws {DeferError} ERR_REDLINE_DEFER_SEAL
 */
export function openAll(
  sealed: readonly Sealed[],
  keys: KeyRing | undefined,
): void | Promise<void> {
  for (const [at, each] of sealed.entries()) {
    const loading = load(each, keys);
    if (isPromise(loading)) {
      return loading.then(() => {
        open(each, keys!);
        return openAll(sealed.slice(at + 1), keys);
      });
    }
    open(each, keys!);
  }
}
