//! The events that a port receives.

use crate::measure::Figures;
use crate::sys::Errno;

/// An event of a child, in the order it happened. `stream` is the index in the child's stdio.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The program runs. Sent only if requested with [`crate::Port::announce`] before the start.
    Started {
        /// The child.
        id: u64,
    },
    /// The program could not be started; the child is gone and its pipes are at their end.
    Failed {
        /// The child.
        id: u64,
        /// The error number.
        error: Errno,
    },
    /// The process ended and was reaped.
    Exited {
        /// The child.
        id: u64,
        /// Its former process id.
        pid: i32,
        /// Exit code; 0 when a signal ended it.
        code: i32,
        /// The signal, or 0.
        signal: i32,
    },
    /// The process can no longer be watched, or ended without a known status.
    Lost {
        /// The child.
        id: u64,
        /// Its id.
        pid: i32,
        /// The error number; ECHILD if other code in this process has waited for it.
        error: Errno,
    },
    /// The figures so far, for requests that ask for them: sent at the start of the program and before its end.
    Measured {
        /// The child.
        id: u64,
        /// The figures.
        figures: Box<Figures>,
    },
    /// The child's tree has ended, or cannot be ended: see [`crate::Port::end_tree`].
    TreeEnded {
        /// The child.
        id: u64,
    },
    /// Bytes of a flowing stream.
    Data {
        /// The child.
        id: u64,
        /// The stream.
        stream: u16,
        /// Never empty.
        bytes: Vec<u8>,
    },
    /// A stream ended and is closed. `bytes` holds the output of a collected stream, and is empty otherwise.
    Ended {
        /// The child.
        id: u64,
        /// The stream.
        stream: u16,
        /// Everything collected.
        bytes: Vec<u8>,
        /// 0, or the error that ended the reading.
        error: Errno,
    },
    /// A discarded stream ended and is closed.
    Drained {
        /// The child.
        id: u64,
        /// The stream.
        stream: u16,
        /// Number of bytes discarded.
        bytes: u64,
    },
    /// A collected stream exceeded its limit, and reading from it has stopped.
    Overflowed {
        /// The child.
        id: u64,
        /// The stream.
        stream: u16,
        /// Everything collected, including the excess.
        bytes: Vec<u8>,
    },
}

impl Event {
    pub(crate) fn is_exit(&self) -> bool {
        matches!(self, Self::Exited { .. } | Self::Lost { .. })
    }

    /// Returns true once a process runs, or has failed to start.
    pub(crate) fn is_start(&self) -> bool {
        matches!(self, Self::Started { .. } | Self::Failed { .. })
    }

    pub(crate) fn child(&self) -> u64 {
        match self {
            Self::Started { id }
            | Self::Failed { id, .. }
            | Self::Exited { id, .. }
            | Self::Lost { id, .. }
            | Self::Measured { id, .. }
            | Self::TreeEnded { id }
            | Self::Data { id, .. }
            | Self::Ended { id, .. }
            | Self::Drained { id, .. }
            | Self::Overflowed { id, .. } => *id,
        }
    }

    pub(crate) fn is_of(&self, child: u64, index: u16) -> bool {
        matches!(
            self,
            Self::Data { id, stream, .. }
            | Self::Ended { id, stream, .. }
            | Self::Drained { id, stream, .. }
            | Self::Overflowed { id, stream, .. }
                if *id == child && *stream == index
        )
    }
}

/// When a port must be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    Never,
    /// For its loop to look again, if nothing else wakes it: only then has it seen the end of a stream that it does not read.
    Soon,
    Now,
}
