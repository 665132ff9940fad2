import { dirname, join } from 'node:path';
import { syncFolder, type JournalFs } from './journal-fs.ts';

/**
 * Creates the folder of a process's own journal, and that of the dead letters. Returns the error of a full disk.
 * @throws any other error of the file system
 */
export function makeOwnFolder(fs: JournalFs, directory: string, folder: string): unknown {
  try {
    fs.mkdirSync(join(directory, 'dead'));
    fs.mkdirSync(folder);
    // Otherwise a power failure could lose the folder, and every synced segment with it.
    syncFolder(fs, directory);
    syncFolder(fs, dirname(directory));
    return undefined;
  } catch (cause) {
    if (isFull(cause)) return cause;
    throw cause;
  }
}

function isFull(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
