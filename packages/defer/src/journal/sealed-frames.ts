import { parseNote, Sealing, type SealNote } from '../seal/sealing.ts';
import {
  encodeSegmentHeader,
  frameHeaderBytes,
  frameKinds,
  journalVersions,
  readFrame,
  findFrame,
  sealFrame,
  segmentHeaderBytes,
  type FrameSpan,
  readSegmentVersion,
  segmentSalt,
} from './frame.ts';
import type { Segment } from './segment.ts';
import { closeSync, openSync, readSync } from 'node:fs';
import { sealError } from '../errors.ts';
import type { KeyRing } from '../seal/key-ring.ts';

/** Returns the place of a file, to which its sealing is bound. */
export function placeOf(journalId: string, segmentNumber: number): string {
  return `segment ${journalId}/${segmentNumber}`;
}

/**
 * Returns the first bytes of a segment. The note is written twice: otherwise one wrong bit would cost every job of a short segment.
 */
export function encodeBeginning(salt: number, sealing: Sealing | undefined): Buffer {
  if (sealing === undefined) return encodeSegmentHeader(journalVersions.open);
  const payload = Buffer.from(JSON.stringify(sealing.note));
  const frame = Buffer.alloc(frameHeaderBytes + payload.length);
  payload.copy(frame, frameHeaderBytes);
  sealFrame(frame, 0, frameKinds.seal, 0, payload.length, salt);
  return Buffer.concat([encodeSegmentHeader(journalVersions.sealed), frame, frame]);
}

/** Finds the first readable note. `bytes` are those of a segment, or its beginning. */
export function findNote(bytes: Buffer, salt: number): SealNote | undefined {
  for (let at = segmentHeaderBytes; at < bytes.length;) {
    const frame = readFrame(bytes, at, salt) ?? findFrame(bytes, at + 1, salt);
    if (frame === undefined) return undefined;
    const note = noteIn(bytes, frame);
    if (note !== undefined) return note;
    at = frame.end;
  }
  return undefined;
}

function noteIn(bytes: Buffer, { kind, start, end }: FrameSpan): SealNote | undefined {
  if (kind !== frameKinds.seal) return undefined;
  return parseNote(bytes.toString('utf8', start + frameHeaderBytes, end));
}

export function isJob({ kind }: FrameSpan): boolean {
  return kind === frameKinds.job || kind === frameKinds.sealedJob;
}

/**
 * Returns the record in the frame of a job; undefined if it is sealed and cannot be opened. `offset` is the position of `bytes`
 * in the segment.
 */
export function jobTextIn(
  bytes: Buffer,
  { kind, start, end, number }: FrameSpan,
  { sealing }: Segment,
  offset: number,
): string | undefined {
  const payload = start + frameHeaderBytes;
  if (kind === frameKinds.sealedJob) {
    return sealing?.read(bytes.subarray(payload, end), number, offset + start);
  }
  // A record in clear among sealed ones was not written by this package.
  return sealing === undefined ? bytes.toString('utf8', payload, end) : undefined;
}

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
