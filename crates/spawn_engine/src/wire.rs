//! The numbers that cross between the engine and its owner. This is the only place they are written: `scripts/wire.mjs` generates
//! `packages/child-process/src/native/wire.ts` from this file, so it contains modules of plain numbers and nothing else.

/// The kind of an event. `a`, `b` and the bytes depend on it.
pub mod event {
    /// The program runs.
    pub const STARTED: i32 = 0;
    /// It could not be started. `a` is the error number.
    pub const FAILED: i32 = 1;
    /// It has ended. `a` is its process id, `b` its exit code, or the signal that ended it as a negative number.
    pub const EXITED: i32 = 2;
    /// Output. `a` is the stream.
    pub const DATA: i32 = 3;
    /// The end of an output, and what was collected of it. `a` is the stream, `b` an error number or 0.
    pub const ENDED: i32 = 4;
    /// More output than may be collected, with what was collected. `a` is the stream.
    pub const OVERFLOWED: i32 = 5;
    /// It has ended with an unknown status. `a` is its process id, `b` the error number.
    pub const LOST: i32 = 6;
    /// Its figures so far, sent at its start and before its end. The bytes are numbers, see `figure`.
    pub const MEASURED: i32 = 7;
    /// Its tree has ended, or cannot be ended.
    pub const TREE_ENDED: i32 = 8;
    /// The end of an output that was discarded. `a` is the stream, `b` the number of its bytes.
    pub const DRAINED: i32 = 9;
}

/// Options beyond Node's, as bits of one number.
pub mod extra {
    /// The kernel kills the child when its parent ends.
    pub const DIES_WITH_PARENT: u32 = 1;
    /// Measures the resources it uses.
    pub const USAGE: u32 = 2;
    /// Measures its times.
    pub const TIMES: u32 = 4;
    /// Its descendants can be found.
    pub const TREE: u32 = 8;
}

/// Indexes of the numbers in the bytes of a "measured" event, each a double in the machine's byte order.
pub mod figure {
    /// The request arrived, in milliseconds of the monotonic clock.
    pub const QUEUED: usize = 0;
    /// A spawner began with it; 0 until then. The same applies to the next two.
    pub const TAKEN: usize = 1;
    /// The program runs.
    pub const STARTED: usize = 2;
    /// The end was seen.
    pub const ENDED: usize = 3;
    /// CPU time in user mode, in microseconds; -1 if the usage is unknown.
    pub const USER_MICROS: usize = 4;
    /// CPU time in the kernel in microseconds.
    pub const SYSTEM_MICROS: usize = 5;
    /// Peak of the resident memory in KiB; 0 if unknown.
    pub const PEAK_KIB: usize = 6;
    /// Voluntary context switches.
    pub const VOLUNTARY: usize = 7;
    /// Involuntary context switches.
    pub const INVOLUNTARY: usize = 8;
    /// Number of figures.
    pub const COUNT: usize = 9;
}

/// An entry of stdio. Numbers of 0 and above are descriptors that the child inherits.
pub mod stdio {
    /// `/dev/null`.
    pub const IGNORE: i32 = -1;
    /// A pipe.
    pub const PIPE: i32 = -2;
    /// A pipe whose output is collected.
    pub const COLLECT: i32 = -3;
}

/// Result of spawn: an id, a negative error number, or both, negative, for a child that has failed already.
pub mod spawned {
    /// Unit of the id; the remainder, smaller than the unit, is the error number.
    pub const ID_UNIT: i32 = 4096;
}
