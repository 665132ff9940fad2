import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { DeferError } from '../errors.ts';

/** The file system calls of the journal: a seam, so that tests can fill the disk and fail a sync. */
export interface JournalFs {
  mkdirSync(path: string): void;
  readdirSync(path: string): string[];
  openSync(path: string, flags: string): number;
  closeSync(fd: number): void;
  /** May write less than requested. */
  writeSync(
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number;
  ftruncateSync(fd: number, length: number): void;
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  rmdirSync(path: string): void;
  fdatasync(fd: number, callback: (error: Error | null) => void): void;
  fdatasyncSync(fd: number): void;
  /** True if no folder has the file any more: data written to it is lost when the process ends. */
  isRemoved(fd: number): boolean;
  readFile(path: string): Promise<Buffer>;
  read(
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<number>;
}

export const nodeFs: JournalFs = {
  mkdirSync: (path) => void fs.mkdirSync(path, { recursive: true }),
  readdirSync: (path) => fs.readdirSync(path),
  openSync: (path, flags) => fs.openSync(path, flags, 0o600),
  closeSync: (fd) => fs.closeSync(fd),
  writeSync: (fd, bytes, offset, length, position) =>
    fs.writeSync(fd, bytes, offset, length, position),
  ftruncateSync: (fd, length) => fs.ftruncateSync(fd, length),
  renameSync: (from, to) => fs.renameSync(from, to),
  unlinkSync: (path) => fs.unlinkSync(path),
  rmdirSync: (path) => fs.rmdirSync(path),
  fdatasync: (fd, callback) => fs.fdatasync(fd, callback),
  fdatasyncSync: (fd) => fs.fdatasyncSync(fd),
  isRemoved: (fd) => fs.fstatSync(fd).nlink === 0,
  readFile: (path) => fs.promises.readFile(path),
  read: (fd, bytes, offset, length, position) =>
    new Promise((resolve, reject) => {
      fs.read(fd, bytes, offset, length, position, (error, bytesRead) => {
        if (error) reject(error);
        else resolve(bytesRead);
      });
    }),
};

/** Ignores errors: synced data is safe whatever closing reports, and closing does not make the rest safe. */
export function close(files: JournalFs, fd: number): void {
  try {
    files.closeSync(fd);
  } catch {
    // A network file system may fail here.
  }
}

/** True if the process or the machine lacks descriptors or memory: the file could be opened otherwise. */
export function isShortage(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM';
}

/** True for the error of a network file system that has nothing to sync for a folder. */
export function hasNothingToSync(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EINVAL' || code === 'ENOTSUP' || code === 'ENOSYS';
}

/** Makes creations and renames in a folder as safe as a sync makes content. */
export function syncFolder(files: JournalFs, path: string): void {
  let fd: number;
  try {
    fd = files.openSync(path, 'r');
  } catch (error) {
    if (isShortage(error)) throw error;
    return; // Windows does not open folders; its file system journals them itself.
  }
  try {
    files.fdatasyncSync(fd);
  } catch (error) {
    if (!hasNothingToSync(error)) throw error;
  } finally {
    close(files, fd);
  }
}

/** Removes a file, if it exists. */
export function remove(files: JournalFs, path: string): void {
  try {
    files.unlinkSync(path);
  } catch {
    // It does not exist.
  }
}

/**
 * Creates the folder of a process's own journal, and that of the dead letters. Returns the error of a full disk.
 * @throws any other error of the file system
 */
export function makeOwnFolder(files: JournalFs, directory: string, folder: string): unknown {
  try {
    files.mkdirSync(join(directory, 'dead'));
    files.mkdirSync(folder);
    // Otherwise a power failure could lose the folder, and every synced segment with it.
    syncFolder(files, directory);
    syncFolder(files, dirname(directory));
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

/* Lack of files, memory or rights affects other files too, and may be over soon. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EACCES', 'EPERM', 'EINTR']);

/**
 * Reads a file of a journal. Undefined if the disk cannot read this very file.
 * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: it cannot be read now, or was removed
 */
export async function readOwnFile(files: JournalFs, file: string): Promise<Buffer | undefined> {
  try {
    return await files.readFile(file);
  } catch (cause) {
    if (isTheFilesOwn(cause as NodeJS.ErrnoException, file)) return undefined;
    throw new DeferError('ERR_REDLINE_DEFER_JOURNAL', `${file} cannot be read.`, { cause });
  }
}

function isTheFilesOwn({ code = '' }: NodeJS.ErrnoException, file: string): boolean {
  if (code === '' || passing.has(code)) return false;
  // Removed since the folder was listed; a dangling link still exists.
  return code !== 'ENOENT' || fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
