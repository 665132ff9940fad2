//! What a caller asks for.

use std::os::fd::RawFd;
use std::sync::Arc;

use crate::environment::Environment;
use crate::tree;

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
    /// What goes beyond Node's options.
    pub extras: Extras,
}

impl Request {
    /// Gives the child the mark of its tree, if it has one: the tree's name.
    pub(crate) fn mark_tree(&mut self, id: u64) -> Option<String> {
        if !self.extras.tree {
            return None;
        }
        let name = tree::name(id);
        self.env = Arc::new(Environment::new(tree::marked(self.env.block(), &name)));
        Some(name)
    }
}

/// What goes beyond Node's options. Nothing of it by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The kernel kills the child when this process ends, however it ends.
    pub dies_with_parent: bool,
    /// The resources that the child uses are of interest: [`crate::Event::Measured`] comes before its exit.
    pub usage: bool,
    /// The same for its times, which come when it runs, too.
    pub times: bool,
    /// The child's descendants can be found, see [`crate::Port::end_tree`].
    pub tree: bool,
}

impl Extras {
    /// Whether something is measured.
    pub(crate) fn is_measured(self) -> bool {
        self.usage || self.times
    }
}
