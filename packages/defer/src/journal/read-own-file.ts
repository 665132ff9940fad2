import { lstatSync } from 'node:fs';
import { DeferError } from '../errors.ts';
import type { JournalFs } from './journal-fs.ts';

/* Lack of files, memory or rights affects other files too, and may be over soon. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EACCES', 'EPERM', 'EINTR']);

/**
 * Reads a file of a journal. Undefined if the disk cannot read this very file.
 * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: it cannot be read now, or was removed
 */
export async function readOwnFile(fs: JournalFs, file: string): Promise<Buffer | undefined> {
  try {
    return await fs.readFile(file);
  } catch (cause) {
    if (isTheFilesOwn(cause as NodeJS.ErrnoException, file)) return undefined;
    throw new DeferError('ERR_REDLINE_DEFER_JOURNAL', `${file} cannot be read.`, { cause });
  }
}

function isTheFilesOwn({ code = '' }: NodeJS.ErrnoException, file: string): boolean {
  if (code === '' || passing.has(code)) return false;
  // Removed since the folder was listed; a dangling link still exists.
  return code !== 'ENOENT' || lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
