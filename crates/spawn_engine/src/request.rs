//! What a caller asks for.

use std::os::fd::RawFd;
use std::sync::Arc;

use crate::environment::Environment;

/// One entry of a child's stdio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdio {
    /// `/dev/null` for 0 to 2, nothing above.
    Ignore,
    /// A copy of this descriptor, taken at the call.
    Inherit(RawFd),
    /// A socket pair; its near end is a stream of the child.
    Pipe,
    /// A pipe whose near end is collected from the start, up to this many bytes.
    Collect(usize),
}

/// What to start. Strings are bytes, each ended by a NUL.
#[derive(Debug, Default)]
pub struct Request {
    /// The program; without a slash it is looked for in the PATH of `env`. One NUL-ended string.
    pub file: Vec<u8>,
    /// argv, `argv[0]` included, as NUL-ended strings one after the other.
    pub args: Vec<u8>,
    /// The environment; shared, because it is mostly the same one.
    pub env: Arc<Environment>,
    /// Where the child starts; `None`: where this process is. One NUL-ended string.
    pub cwd: Option<Vec<u8>>,
    /// Whether the child leads a session of its own.
    pub detached: bool,
    /// User to become.
    pub uid: Option<u32>,
    /// Group to become.
    pub gid: Option<u32>,
    /// stdio, from descriptor 0 on.
    pub stdio: Vec<Stdio>,
}
