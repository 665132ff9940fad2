import type { Sealing } from '../seal/sealing.ts';
import { segmentHeaderBytes } from './frame.ts';
import type { JournalFs } from './journal-fs.ts';

/** The part of an open segment that writing uses. */
export interface CommitTarget {
  readonly fd: number;
  /** True if the file system counts the names of a file, so that a removed file can be detected. */
  readonly isCounted: boolean;
  readonly salt: number;
  /** Seals its jobs; undefined if they are in clear. */
  readonly sealing: Sealing | undefined;
  /** The offset of the last note about their key. */
  notedAt: number;
  /** Bytes that `write` has taken so far. */
  bytes: number;
  /** End of the zeros written ahead of `bytes`; nothing is reserved if it is less than `bytes`. */
  reserved: number;
  /** Size at which a new segment replaces it. */
  readonly maxBytes: number;
}

/** Room for some thousand jobs: the one sync in so many that has to record it takes a few milliseconds. */
const zeros = Buffer.alloc(256 << 10);

/**
 * Fills a synced segment with zeros ahead of its end. A sync of bytes the file already had has neither a size
 * nor a block to record: on ext4 it takes half the CPU and half the time of one after an append, and does not wait for
 * what others have put into the file system's own journal.
 */
export function reserveAhead(fs: JournalFs, target: CommitTarget): void {
  if (target.bytes <= target.reserved) return;
  const length = Math.min(zeros.length, target.maxBytes - target.bytes);
  if (length <= 0) return;
  target.reserved = target.bytes + length;
  try {
    fs.writeSync(target.fd, zeros, 0, length, target.bytes);
  } catch {
    // No room: it continues as an append, and the cause is reported if that fails.
  }
}

/** Cuts the file off at the end of its frames. */
export function dropReserve(fs: JournalFs, target: CommitTarget): void {
  if (target.reserved <= target.bytes) return;
  target.reserved = target.bytes;
  try {
    fs.ftruncateSync(target.fd, target.bytes);
  } catch {
    // Readers recognise zeros at the end.
  }
}

/** Returns the bytes without the reserve: no frame ends in a zero, because no text does. */
export function withoutReserve(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > segmentHeaderBytes && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}
