//! The request of a caller.

use std::os::fd::RawFd;
use std::sync::Arc;

use crate::environment::Environment;
use crate::tree;

/// One entry of a child's stdio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdio {
    /// `/dev/null` for 0 to 2, closed above.
    Ignore,
    /// A copy of this descriptor, taken at the call.
    Inherit(RawFd),
    /// A socket pair; its near end is a stream of the child.
    Pipe,
    /// A pipe whose near end is collected from the start, up to this many bytes.
    Collect(usize),
}

/// A process to start. Strings are bytes, each NUL-terminated.
#[derive(Debug, Default)]
pub struct Request {
    /// The program; without a slash it is searched for in the PATH of `env`. One NUL-terminated string.
    pub file: Vec<u8>,
    /// argv, including `argv[0]`, as NUL-terminated strings one after the other.
    pub args: Vec<u8>,
    /// The environment; shared, because it is usually the same one.
    pub env: Arc<Environment>,
    /// The child's working directory; `None`: that of this process. One NUL-terminated string.
    pub cwd: Option<Vec<u8>>,
    /// True if the child leads a session of its own.
    pub detached: bool,
    /// User to become.
    pub uid: Option<u32>,
    /// Group to become.
    pub gid: Option<u32>,
    /// stdio, from descriptor 0 on.
    pub stdio: Vec<Stdio>,
    /// Options beyond Node's.
    pub extras: Extras,
}

impl Request {
    /// Gives the child the mark of its tree, if it has one, and returns the tree's name.
    pub(crate) fn mark_tree(&mut self, id: u64) -> Option<String> {
        if !self.extras.tree {
            return None;
        }
        let name = tree::name(id);
        self.env = Arc::new(Environment::new(tree::marked(self.env.block(), &name)));
        Some(name)
    }
}

/// Options beyond Node's. All off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The kernel kills the child when this process ends, however it ends.
    pub dies_with_parent: bool,
    /// Measures the resources that the child uses: [`crate::Event::Measured`] comes before its exit.
    pub usage: bool,
    /// Measures its times, which are also reported when it runs.
    pub times: bool,
    /// The child's descendants can be found, see [`crate::Port::end_tree`].
    pub tree: bool,
}

impl Extras {
    pub(crate) fn is_measured(self) -> bool {
        self.usage || self.times
    }
}
