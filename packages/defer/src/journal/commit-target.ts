/** An open segment, as far as writing goes. */
export interface CommitTarget {
  readonly fd: number;
  readonly salt: number;
  /** What `write` has taken so far. */
  bytes: number;
  /** How far the file is filled with zeros to write over; nothing beyond `bytes` where it is less. */
  reserved: number;
  /** It is left for a new one when it has so many. */
  readonly maxBytes: number;
}
