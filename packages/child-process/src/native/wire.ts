// Generated from crates/spawn_engine/src/wire.rs by scripts/wire.mjs: change it there, and run npm run wire.

/** What an event is about. `a`, `b` and the bytes go with it. */
export const EVENT = {
  /** The program runs. */
  STARTED: 0,
  /** It could not be started. `a` is the error number. */
  FAILED: 1,
  /** It has ended. `a` is its process id, `b` its exit code, or the signal that ended it as a negative number. */
  EXITED: 2,
  /** Output. `a` is the stream. */
  DATA: 3,
  /** The end of an output, and what was collected of it. `a` is the stream, `b` an error number or 0. */
  ENDED: 4,
  /** More output than may be collected, with what was collected. `a` is the stream. */
  OVERFLOWED: 5,
  /** It has ended, nobody knows how. `a` is its process id, `b` the error number. */
  LOST: 6,
} as const;

/** An entry of stdio. A number from 0 on is a descriptor that the child inherits. */
export const STDIO = {
  /** `/dev/null`. */
  IGNORE: -1,
  /** A pipe. */
  PIPE: -2,
  /** A pipe whose output is collected. */
  COLLECT: -3,
} as const;

/** What spawn gives: an id, a negative error number, or both, negative, for a child that has failed already. */
export const SPAWNED = {
  /** The id counts in this many; what is left is the error number, which is below it. */
  ID_UNIT: 4096,
} as const;
