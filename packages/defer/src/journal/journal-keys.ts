import { join } from 'node:path';
import { isPromise } from '../is-promise.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { openAll } from './check-folder.ts';
import { sealedLetter, type FileDeadLetters } from './dead-letters.ts';
import { readBeginning, type Sealed } from './open-sealing.ts';

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
    this.opened = open(opening, letters);
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

async function open(opening: void | Promise<void>, letters: FileDeadLetters): Promise<void> {
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
