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
