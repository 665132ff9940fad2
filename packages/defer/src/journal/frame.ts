import { crc32 } from 'node:zlib';

/*
 * A segment is a header and frames.
 *
 *   header  "REDLINED" | version u32 | crc u32 over the 12 bytes before it. Every later version keeps these 16 bytes.
 *           Version 2 is a sealed segment: jobs are of the kind `sealedJob`, and `seal` has the note about their key.
 *   frame   crc u32 | magic u8 | kind u8 | 0 u16 | length u32 | number u64 | payload
 *
 * Numbers are big endian. The checksum covers everything after it, and starts from a salt derived from the journal's
 * id and the segment's number, so that no frame is taken for one of another segment. CRC-32 and not CRC-32C: zlib's
 * is native, 0.36 µs for 250 bytes against 0.53 in JavaScript, and 4x faster from 16 KiB on.
 */
export const segmentHeaderBytes = 16;
export const frameHeaderBytes = 20;
export const journalVersions = { open: 1, sealed: 2 } as const;
const segmentMagic = Buffer.from('REDLINED', 'latin1');
const frameMagic = 0xd7;

export const frameKinds = {
  job: 1,
  done: 2,
  sent: 3,
  replayed: 4,
  tried: 5,
  sealedJob: 6,
  seal: 7,
} as const;
export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

/** Position of a frame in the buffer it was found in. The payload starts `frameHeaderBytes` after `start`. */
export interface FrameSpan {
  readonly kind: FrameKind;
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

export function segmentSalt(journalId: string, segmentNumber: number): number {
  return crc32(`${journalId}/${segmentNumber}`);
}

export function encodeSegmentHeader(version: number): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes);
  segmentMagic.copy(header);
  header.writeUInt32BE(version, 8);
  header.writeUInt32BE(crc32(header.subarray(0, 12)), 12);
  return header;
}

/** Returns the version in a header; undefined if it is not a whole header. */
export function readSegmentVersion(bytes: Buffer): number | undefined {
  if (bytes.length < segmentHeaderBytes) return undefined;
  if (!bytes.subarray(0, 8).equals(segmentMagic)) return undefined;
  if (bytes.readUInt32BE(12) !== crc32(bytes.subarray(0, 12))) return undefined;
  return bytes.readUInt32BE(8);
}

/** Writes header and checksum around a payload that is already at `start + frameHeaderBytes`. Returns the end. */
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

/** Returns the length that a frame at `start` claims to have; undefined if there cannot be one. */
export function claimedFrameBytes(bytes: Buffer, start: number): number | undefined {
  if (start + frameHeaderBytes > bytes.length) return undefined;
  const kind = bytes[start + 5]!;
  if (bytes[start + 4] !== frameMagic || kind < 1 || kind > 7) return undefined;
  if (bytes[start + 6] !== 0 || bytes[start + 7] !== 0) return undefined;
  return frameHeaderBytes + bytes.readUInt32BE(start + 8);
}

/** Returns the frame at `start` if it is whole and unchanged. */
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

/** True for a frame that ends with `bytes` if nothing but its length is wrong: it was written completely, and damaged later. */
export function isWholeButForLength(bytes: Buffer, start: number, salt: number): boolean {
  if (claimedFrameBytes(bytes, start) === undefined) return false;
  const corrected = Buffer.from(bytes.subarray(start));
  corrected.writeUInt32BE(corrected.length - frameHeaderBytes, 8);
  return readFrame(corrected, 0, salt) !== undefined;
}

/** Finds the next whole frame at or after `from`, where reading continues after damage. */
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
 * Finds the next place at or after `from` where a frame may begin that continues past the end of `bytes`, within
 * `available` bytes: only reading the rest shows if it is one.
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
  // Fewer than its first five bytes may be there.
  const end = Math.max(from, bytes.length - 4);
  return end < bytes.length && bytes.length < available ? end : undefined;
}
