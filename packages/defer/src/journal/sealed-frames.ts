import { parseNote, type Sealing, type SealNote } from '../seal/sealing.ts';
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
} from './frame.ts';
import type { Segment } from './segment.ts';

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
