import type { CommitTarget } from './commit-target.ts';
import { segmentHeaderBytes } from './frame.ts';
import type { JournalFs } from './journal-fs.ts';

/** Some thousand jobs' worth: the one sync in so many that has to record it takes a few milliseconds. */
const zeros = Buffer.alloc(256 << 10);

/**
 * Fills a segment that is synced with zeros ahead of its end. A sync of bytes the file already had has neither a size
 * nor a block to record: on ext4 it takes half the CPU and half the time of one behind an append, and does not wait for
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
    // No room: it goes on as an append, and the cause is reported when that fails.
  }
}

/** The file ends where its frames do again. */
export function dropReserve(fs: JournalFs, target: CommitTarget): void {
  if (target.reserved <= target.bytes) return;
  target.reserved = target.bytes;
  try {
    fs.ftruncateSync(target.fd, target.bytes);
  } catch {
    // Who reads it knows zeros at the end for what they are.
  }
}

/** The bytes without what was reserved: no frame ends in a zero, for no text does. */
export function withoutReserve(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > segmentHeaderBytes && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}
