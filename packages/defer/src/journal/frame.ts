import { crc32 } from 'node:zlib';

/*
 * A segment is a header and frames.
 *
 *   header  "REDLINED" | version u32 | crc u32 over the 12 bytes before it. Every later version keeps these 16 bytes.
 *   frame   crc u32 | magic u8 | kind u8 | 0 u16 | length u32 | number u64 | payload
 *
 * Numbers are big endian. The checksum covers everything behind itself, and starts from a salt made of the journal's
 * id and the segment's number, so that no frame is taken for one of another segment. CRC-32 and not CRC-32C: zlib's
 * is native, 0.36 µs for 250 bytes against 0.53 in JavaScript, and 4x faster from 16 KiB on.
 */
export const segmentHeaderBytes = 16;
export const frameHeaderBytes = 20;
export const journalVersion = 1;
const segmentMagic = Buffer.from('REDLINED', 'latin1');
const frameMagic = 0xd7;

export const frameKinds = { job: 1, done: 2, sent: 3, replayed: 4, tried: 5 } as const;
export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

/** Where a frame lies in the buffer it was found in. The payload starts `frameHeaderBytes` behind `start`. */
export interface FrameSpan {
  readonly kind: FrameKind;
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

export function segmentSalt(journalId: string, segmentNumber: number): number {
  return crc32(`${journalId}/${segmentNumber}`);
}

export function encodeSegmentHeader(): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes);
  segmentMagic.copy(header);
  header.writeUInt32BE(journalVersion, 8);
  header.writeUInt32BE(crc32(header.subarray(0, 12)), 12);
  return header;
}

/** The version a header names; undefined when it is not a whole header. */
export function readSegmentVersion(bytes: Buffer): number | undefined {
  if (bytes.length < segmentHeaderBytes) return undefined;
  if (!bytes.subarray(0, 8).equals(segmentMagic)) return undefined;
  if (bytes.readUInt32BE(12) !== crc32(bytes.subarray(0, 12))) return undefined;
  return bytes.readUInt32BE(8);
}

/** Writes header and checksum around a payload that already lies at `start + frameHeaderBytes`. Returns the end. */
export function sealFrame(
  bytes: Buffer,
  start: number,
  kind: FrameKind,
  number: number,
  payloadBytes: number,
  salt: number,
): number {
  const end = start + frameHeaderBytes + payloadBytes;
  bytes[start + 4] = frameMagic;
  bytes[start + 5] = kind;
  bytes[start + 6] = 0;
  bytes[start + 7] = 0;
  bytes.writeUInt32BE(payloadBytes, start + 8);
  bytes.writeUInt32BE(Math.floor(number / 0x1_0000_0000), start + 12);
  bytes.writeUInt32BE(number >>> 0, start + 16);
  bytes.writeUInt32BE(crc32(bytes.subarray(start + 4, end), salt), start);
  return end;
}

/** The length a frame at `start` claims to have, or undefined when there cannot be one. */
export function claimedFrameBytes(bytes: Buffer, start: number): number | undefined {
  if (start + frameHeaderBytes > bytes.length) return undefined;
  const kind = bytes[start + 5]!;
  if (bytes[start + 4] !== frameMagic || kind < 1 || kind > 5) return undefined;
  if (bytes[start + 6] !== 0 || bytes[start + 7] !== 0) return undefined;
  return frameHeaderBytes + bytes.readUInt32BE(start + 8);
}

/** The frame at `start`, when it is whole and what was written. */
export function readFrame(bytes: Buffer, start: number, salt: number): FrameSpan | undefined {
  const length = claimedFrameBytes(bytes, start);
  if (length === undefined || start + length > bytes.length) return undefined;
  const end = start + length;
  if (bytes.readUInt32BE(start) !== crc32(bytes.subarray(start + 4, end), salt)) return undefined;
  return {
    kind: bytes[start + 5] as FrameKind,
    number: bytes.readUInt32BE(start + 12) * 0x1_0000_0000 + bytes.readUInt32BE(start + 16),
    start,
    end,
  };
}

/** The next whole frame at or behind `from`: how reading goes on behind damage. */
export function findFrame(bytes: Buffer, from: number, salt: number): FrameSpan | undefined {
  // The magic is the fifth byte of a frame.
  for (
    let at = bytes.indexOf(frameMagic, from + 4);
    at !== -1;
    at = bytes.indexOf(frameMagic, at + 1)
  ) {
    const frame = readFrame(bytes, at - 4, salt);
    if (frame !== undefined) return frame;
  }
  return undefined;
}

/**
 * The next place at or behind `from` where a frame may begin that goes on behind the end of `bytes`, and within
 * `available` bytes: whether it is one shows when the rest of it is read.
 */
export function findCutOff(bytes: Buffer, from: number, available: number): number | undefined {
  for (
    let at = bytes.indexOf(frameMagic, from + 4);
    at !== -1;
    at = bytes.indexOf(frameMagic, at + 1)
  ) {
    const start = at - 4;
    if (start + frameHeaderBytes > bytes.length) return start;
    const length = claimedFrameBytes(bytes, start);
    if (length === undefined || start + length > available) continue;
    if (start + length > bytes.length) return start;
  }
  // Less than its first five bytes may be there.
  const end = Math.max(from, bytes.length - 4);
  return end < bytes.length && bytes.length < available ? end : undefined;
}
