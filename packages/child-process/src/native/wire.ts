// Generated from crates/spawn_engine/src/wire.rs by scripts/wire.mjs: change it there, and run npm run wire.

/** The kind of an event. `a`, `b` and the bytes depend on it. */
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
  /** It has ended with an unknown status. `a` is its process id, `b` the error number. */
  LOST: 6,
  /** Its figures so far, sent at its start and before its end. The bytes are numbers, see `figure`. */
  MEASURED: 7,
  /** Its tree has ended, or cannot be ended. */
  TREE_ENDED: 8,
  /** The end of an output that was discarded. `a` is the stream, `b` the number of its bytes. */
  DRAINED: 9,
} as const;

/** Options beyond Node's, as bits of one number. */
export const EXTRA = {
  /** The kernel kills the child when its parent ends. */
  DIES_WITH_PARENT: 1,
  /** Measures the resources it uses. */
  USAGE: 2,
  /** Measures its times. */
  TIMES: 4,
  /** Its descendants can be found. */
  TREE: 8,
} as const;

/** Indexes of the numbers in the bytes of a "measured" event, each a double in the machine's byte order. */
export const FIGURE = {
  /** The request arrived, in milliseconds of the monotonic clock. */
  QUEUED: 0,
  /** A spawner began with it; 0 until then. The same applies to the next two. */
  TAKEN: 1,
  /** The program runs. */
  STARTED: 2,
  /** The end was seen. */
  ENDED: 3,
  /** CPU time in user mode, in microseconds; -1 if the usage is unknown. */
  USER_MICROS: 4,
  /** CPU time in the kernel in microseconds. */
  SYSTEM_MICROS: 5,
  /** Peak of the resident memory in KiB; 0 if unknown. */
  PEAK_KIB: 6,
  /** Voluntary context switches. */
  VOLUNTARY: 7,
  /** Involuntary context switches. */
  INVOLUNTARY: 8,
  /** Number of figures. */
  COUNT: 9,
} as const;

/** An entry of stdio. Numbers of 0 and above are descriptors that the child inherits. */
export const STDIO = {
  /** `/dev/null`. */
  IGNORE: -1,
  /** A pipe. */
  PIPE: -2,
  /** A pipe whose output is collected. */
  COLLECT: -3,
} as const;

/** Result of spawn: an id, a negative error number, or both, negative, for a child that has failed already. */
export const SPAWNED = {
  /** Unit of the id; the remainder, smaller than the unit, is the error number. */
  ID_UNIT: 4096,
} as const;
