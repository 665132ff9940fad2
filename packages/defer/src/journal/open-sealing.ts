import { closeSync, openSync, readSync } from 'node:fs';
import { sealError } from '../errors.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { Sealing, type SealNote } from '../seal/sealing.ts';
import { journalVersions, readSegmentVersion, segmentSalt } from './frame.ts';
import { findNote, placeOf } from './sealed-frames.ts';
import type { Segment } from './segment.ts';

/** A sealed file and its note. */
export interface Sealed {
  readonly file: string;
  readonly place: string;
  readonly note: SealNote;
}

/** Room for two notes with ids of usual length. */
const beginningBytes = 4 << 10;

/**
 * Returns the sealing of the segment; undefined if it is not sealed, or if no copy of its note can be read.
 * @throws {DeferError} ERR_REDLINE_DEFER_SEAL
 */
export async function openSealing(
  bytes: Buffer,
  { number, salt }: Segment,
  file: string,
  { id, keys }: { readonly id: string; readonly keys?: KeyRing | undefined },
): Promise<Sealing | undefined> {
  if (readSegmentVersion(bytes) === journalVersions.open) return undefined;
  const note = findNote(bytes, salt);
  if (note === undefined) return undefined;
  const sealed = { file, place: placeOf(id, number), note };
  await load(sealed, keys);
  return open(sealed, keys!);
}

/** Reads up to 4 KiB of the beginning of a file. @throws the error of the file system */
export function readBeginning(file: string): Buffer {
  const bytes = Buffer.alloc(beginningBytes);
  const fd = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}

/** Returns undefined if the segment is not sealed, or has no readable note in its first bytes. */
export function sealedIn(
  bytes: Buffer,
  { id, number, file }: { readonly id: string; readonly number: number; readonly file: string },
): Sealed | undefined {
  if (readSegmentVersion(bytes) !== journalVersions.sealed) return undefined;
  const note = findNote(bytes, segmentSalt(id, number));
  return note && { file, place: placeOf(id, number), note };
}

/** Fetches the key; waits only if its callback does. @throws {DeferError} ERR_REDLINE_DEFER_SEAL */
export function load({ file, note }: Sealed, keys: KeyRing | undefined): void | Promise<void> {
  if (keys !== undefined) return keys.load(note.key, file);
  throw sealError(
    `${file} is sealed with the key "${note.key}", and no key was given: createDefer needs the option journal.seal, the command inspect --seal FILE. Nothing in it was changed.`,
  );
}

/** @throws {DeferError} ERR_REDLINE_DEFER_SEAL: the file was sealed with another key */
export function open({ file, place, note }: Sealed, keys: KeyRing): Sealing {
  const sealing = Sealing.of(note, keys.get(note.key)!, place);
  if (sealing !== undefined) return sealing;
  throw sealError(
    `${file} is sealed with another key than the one that journal.seal has for the id "${note.key}", or is the file of another journal. Nothing in it was changed.`,
  );
}
