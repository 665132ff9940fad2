import type { Sealing } from '../seal/sealing.ts';

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
