/** An open segment, as far as writing goes. */
export interface CommitTarget {
  readonly fd: number;
  /** The file system counts the names of a file, so that one can be seen to have none. */
  readonly isCounted: boolean;
  readonly salt: number;
  /** What `write` has taken so far. */
  bytes: number;
  /** How far the file is filled with zeros to write over; nothing beyond `bytes` where it is less. */
  reserved: number;
  /** It is left for a new one when it has so many. */
  readonly maxBytes: number;
}
