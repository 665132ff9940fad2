import { basename, join } from 'node:path';
import { isPromise } from '../is-promise.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import type { JournalFs } from './journal-fs.ts';
import { load, open, readBeginning, sealedIn, type Sealed } from './open-sealing.ts';
import { parseFolderName } from './owner.ts';
import { checkVersion, segmentNumbers } from './recover.ts';

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
