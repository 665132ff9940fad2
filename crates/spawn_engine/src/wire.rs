//! The numbers that cross between the engine and its owner. This is the only place they are written: `scripts/wire.mjs` makes
//! `packages/child-process/src/native/wire.ts` of this file, so it holds modules of plain numbers and nothing else.

/// What an event is about. `a`, `b` and the bytes go with it.
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
    /// It has ended, nobody knows how. `a` is its process id, `b` the error number.
    pub const LOST: i32 = 6;
    /// Its figures so far, sent at its start and before its end. The bytes are numbers, see `figure`.
    pub const MEASURED: i32 = 7;
    /// Its tree has ended, or cannot be ended.
    pub const TREE_ENDED: i32 = 8;
}

/// What goes beyond Node's options, as bits of one number.
pub mod extra {
    /// The kernel kills the child when its parent ends.
    pub const DIES_WITH_PARENT: u32 = 1;
    /// The resources it uses are of interest.
    pub const USAGE: u32 = 2;
    /// Its times are.
    pub const TIMES: u32 = 4;
    /// Its descendants can be found.
    pub const TREE: u32 = 8;
}

/// Where which number is in the bytes of a "measured" event, each a double in the machine's order.
pub mod figure {
    /// The request came, in milliseconds of the monotonic clock.
    pub const QUEUED: usize = 0;
    /// A spawner began with it; 0 as long as none has. The next two are the same.
    pub const TAKEN: usize = 1;
    /// The program runs.
    pub const STARTED: usize = 2;
    /// The end was seen.
    pub const ENDED: usize = 3;
    /// CPU time outside of the kernel in microseconds, -1 where the use is not known.
    pub const USER_MICROS: usize = 4;
    /// CPU time in the kernel in microseconds.
    pub const SYSTEM_MICROS: usize = 5;
    /// Peak of the resident memory, 0 where it is not known.
    pub const PEAK_KIB: usize = 6;
    /// Voluntary context switches.
    pub const VOLUNTARY: usize = 7;
    /// Involuntary ones.
    pub const INVOLUNTARY: usize = 8;
    /// How many there are.
    pub const COUNT: usize = 9;
}

/// An entry of stdio. A number from 0 on is a descriptor that the child inherits.
pub mod stdio {
    /// `/dev/null`.
    pub const IGNORE: i32 = -1;
    /// A pipe.
    pub const PIPE: i32 = -2;
    /// A pipe whose output is collected.
    pub const COLLECT: i32 = -3;
}

/// What spawn gives: an id, a negative error number, or both, negative, for a child that has failed already.
pub mod spawned {
    /// The id counts in this many; what is left is the error number, which is below it.
    pub const ID_UNIT: i32 = 4096;
}
