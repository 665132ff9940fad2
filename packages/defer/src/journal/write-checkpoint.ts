import { join } from 'node:path';
import { encodeCheckpoint, type Checkpoint } from './checkpoint.ts';
import { close, hasNothingToSync, isShortage, remove, type JournalFs } from './journal-fs.ts';

/**
 * Writes to a new file, syncs it, and renames it over the existing one: a whole checkpoint always exists. Returns false
 * if `mayReplace` refused meanwhile.
 */
export async function writeCheckpoint(
  fs: JournalFs,
  folder: string,
  checkpoint: Checkpoint,
  mayReplace: () => boolean,
): Promise<boolean> {
  const path = join(folder, 'checkpoint');
  remove(fs, `${path}.new`);
  const fd = fs.openSync(`${path}.new`, 'wx');
  try {
    const bytes = Buffer.from(encodeCheckpoint(checkpoint));
    for (let at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at, bytes.length - at, at);
    await new Promise<void>((resolve, reject) => {
      fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    fs.closeSync(fd);
  }
  if (!mayReplace()) return false;
  fs.renameSync(`${path}.new`, path);
  await syncFolder(fs, folder);
  return true;
}

async function syncFolder(fs: JournalFs, path: string): Promise<void> {
  let fd: number;
  try {
    fd = fs.openSync(path, 'r');
  } catch (error) {
    if (isShortage(error)) throw error;
    return;
  }
  try {
    await new Promise<void>((resolve, reject) => {
      fs.fdatasync(fd, (error) =>
        error === null || hasNothingToSync(error) ? resolve() : reject(error),
      );
    });
  } finally {
    close(fs, fd);
  }
}
