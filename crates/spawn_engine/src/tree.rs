//! A child and its descendants: found by `/proc`, also after they have changed their session or lost their parent, and ended.
//!
//! A descendant is a process whose parent is one, or whose environment has the mark that the child was started with. The parent
//! does for those that clear their environment, the mark for orphans. Where the child has a control group, the kernel knows them, too.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::group::Group;
use crate::procfs::{self, Process, is_shortage};
use crate::sys::{self, Errno};

/// How often to look again for processes that were executing a program just then, and show no environment.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(1);
/// How long stops are waited for.
const STOP: Duration = Duration::from_secs(2);
/// How long the ends of killed processes are waited for: one in an uninterruptible sleep ends when the kernel lets it.
const KILL: Duration = Duration::from_secs(10);

pub(crate) struct Tree {
    /// The child, as long as it has not been reaped.
    root: Option<Arc<OwnedFd>>,
    mark: Option<Vec<u8>>,
    group: Option<Group>,
    found: HashMap<u32, Member>,
    /// Processes without an environment, by number and start, and how often that was seen.
    bare: HashMap<(u32, u64), u32>,
}

impl Tree {
    /// `name` is that of the child's mark and group, if it was started with one.
    pub fn new(root: Option<Arc<OwnedFd>>, name: Option<&str>) -> Self {
        Self {
            root,
            mark: name.map(mark),
            group: name.and_then(Group::find),
            found: HashMap::new(),
            bare: HashMap::new(),
        }
    }

    /// Signals every process of the tree once.
    pub fn signal(&mut self, signal: i32) {
        let mut found = self.find_all(NONE);
        self.signal_root(signal);
        let root = self.root_number();
        for (number, member) in &mut self.found {
            if Ok(*number) != root {
                member.signal(signal);
            }
        }
        // The end of the child may be what frees the descriptors that are missing.
        let end = Instant::now() + KILL;
        while found == Found::Unreadable && Instant::now() < end {
            found = self.find_all(signal);
        }
    }

    fn signal_root(&self, signal: i32) {
        if let Some(root) = &self.root {
            let _ = sys::send_signal(root, signal);
        }
    }

    /// Whether a process of the tree has not ended, or may not have: as long as some cannot be looked at, nobody knows.
    pub fn is_alive(&mut self) -> bool {
        self.has_live() || self.find_all(NONE) == Found::Unreadable || self.has_live()
    }

    /// Kills every process of the tree, also those that are started meanwhile.
    pub fn kill(&mut self) {
        let end = Instant::now() + KILL;
        loop {
            if let Some(group) = &self.group {
                group.kill();
            }
            self.stop();
            self.signal_root(libc::SIGKILL);
            for member in self.found.values_mut() {
                member.signal(libc::SIGKILL);
            }
            while self.has_live() && Instant::now() < end {
                std::thread::sleep(PAUSE);
            }
            if self.look(NONE) == Found::None || Instant::now() >= end {
                return;
            }
        }
    }

    /// Stops every process of the tree: a stopped one starts no other, and its descendants keep their parent until all of them are
    /// known.
    fn stop(&mut self) {
        for member in self.found.values_mut() {
            member.signal(libc::SIGSTOP);
        }
        let end = Instant::now() + STOP;
        while Instant::now() < end {
            self.find_all(libc::SIGSTOP);
            // One that was starting another when the signal came is done with that once it has stopped.
            let is_still = self.found.values().all(Member::is_still);
            if is_still && self.look(libc::SIGSTOP) != Found::New {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn has_live(&self) -> bool {
        self.found.values().any(Member::is_live)
    }

    fn root_number(&self) -> Result<u32, Errno> {
        let root = self.root.as_ref().ok_or(libc::ESRCH)?;
        procfs::number_of(root)
    }

    /// Looks until there is nothing new. The result of the last look.
    fn find_all(&mut self, signal: i32) -> Found {
        let end = Instant::now() + KILL;
        let mut unsure = 0;
        loop {
            let found = self.look(signal);
            match found {
                Found::New => unsure = 0,
                Found::None => return found,
                Found::Unsure | Found::Unreadable => unsure += 1,
            }
            if unsure > LOOKS || Instant::now() >= end {
                return found;
            }
            if found != Found::New {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Looks at all processes once; what is new gets the signal.
    fn look(&mut self, signal: i32) -> Found {
        self.found.retain(|_, member| member.process.is_live());
        let root = self.root_number();
        let mut found = match root {
            Err(error) if is_shortage(error) => Found::Unreadable,
            _ => Found::None,
        };
        let numbers = match procfs::numbers() {
            Ok(numbers) => numbers,
            Err(error) if is_shortage(error) => return Found::Unreadable,
            // Without a /proc, the child is all that is known.
            Err(_) => return found,
        };
        let own = procfs::own_number();
        // By number, with the parent's: there may be more of them than this process may have descriptors.
        let mut others = Vec::new();
        for number in numbers {
            // A number in `found` is taken: its process has not been reaped, and holds it.
            if Some(number) == own || self.found.contains_key(&number) {
                continue;
            }
            match self.examine(number, root) {
                Ok(Examined::Member(process)) => {
                    self.found.insert(number, Member::new(process, signal));
                    found = Found::New;
                }
                Ok(Examined::Other { parent, is_sure }) => {
                    others.push((number, parent));
                    found = found.max(if is_sure { Found::None } else { Found::Unsure });
                }
                Ok(Examined::Ended) => {}
                Err(error) if is_shortage(error) => found = found.max(Found::Unreadable),
                Err(_) => {}
            }
        }
        found.max(self.adopt(others, signal))
    }

    fn examine(&mut self, number: u32, root: Result<u32, Errno>) -> Result<Examined, Errno> {
        let process = Process::open(number)?;
        let stat = process.stat()?;
        if stat.is_kernel_thread || stat.has_ended() {
            return Ok(Examined::Ended);
        }
        // Behind the opening: the number was still the child's then.
        let is_root = Ok(number) == root && self.root_number() == root;
        let belongs = if is_root {
            Some(true)
        } else {
            self.belongs(&process)?
        };
        if belongs == Some(true) {
            return Ok(Examined::Member(process));
        }
        Ok(Examined::Other {
            parent: stat.parent,
            is_sure: belongs.is_some() || !self.may_change((number, stat.started)),
        })
    }

    /// Whether one that shows no environment may be executing a program just now: most have one again at the next look.
    fn may_change(&mut self, process: (u32, u64)) -> bool {
        let looks = self.bare.entry(process).or_default();
        *looks += 1;
        *looks <= LOOKS
    }

    /// Adds those whose parents are of the tree.
    fn adopt(&mut self, mut others: Vec<(u32, u32)>, signal: i32) -> Found {
        let mut found = Found::None;
        loop {
            let (children, rest): (Vec<_>, Vec<_>) = others
                .into_iter()
                .partition(|(_, parent)| self.found.contains_key(parent));
            if children.is_empty() {
                return found;
            }
            others = rest;
            for (number, _) in children {
                // Another may have the number by now.
                match Process::open(number).and_then(|process| self.is_parent_of(process)) {
                    Ok(Some(process)) => {
                        self.found.insert(number, Member::new(process, signal));
                        found = Found::New;
                    }
                    Err(error) if is_shortage(error) => found = found.max(Found::Unreadable),
                    Ok(None) | Err(_) => {}
                }
            }
        }
    }

    /// The process, if one of the tree is its parent. The parent's number is read while the process that is held under it cannot have
    /// been reaped: it is that process.
    fn is_parent_of(&self, process: Process) -> Result<Option<Process>, Errno> {
        let stat = process.stat()?;
        let parent = self.found.get(&stat.parent);
        let is_child = parent.is_some_and(|parent| !parent.process.is_reaped());
        Ok(is_child.then_some(process))
    }

    /// Whether the kernel or the environment says that it is of the tree; `None` where neither can say so now.
    fn belongs(&self, process: &Process) -> Result<Option<bool>, Errno> {
        if let Some(group) = &self.group {
            match process.groups() {
                Ok(groups) if group.has(&groups) => return Ok(Some(true)),
                Err(error) if is_shortage(error) => return Err(error),
                _ => {}
            }
        }
        let Some(mark) = &self.mark else {
            return Ok(Some(false));
        };
        match process.environment() {
            // It executes a program just now, or has no environment at all.
            Ok(environment) if environment.is_empty() => Ok(None),
            Err(libc::EIO) => Ok(None),
            Ok(environment) => Ok(Some(
                environment
                    .split(|&byte| byte == 0)
                    .any(|pair| pair == mark),
            )),
            Err(error) if is_shortage(error) => Err(error),
            // Somebody else's, of whom the parent may be known.
            Err(_) => Ok(Some(false)),
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if let Some(group) = self.group.take() {
            group.remove();
        }
    }
}

/// The outcome of a look, what it says of others least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// There is nothing new.
    None,
    /// Some were executing a program just then, and show no environment.
    Unsure,
    /// Some could not be read, for lack of a descriptor or of memory.
    Unreadable,
    New,
}

enum Examined {
    Member(Process),
    Other { parent: u32, is_sure: bool },
    Ended,
}

/// A process of the tree.
struct Member {
    process: Process,
    /// It has become another user's, who alone may signal it: its end is not waited for.
    is_left: bool,
}

/// The signal that reaches nobody, and says whether another would.
const NONE: i32 = 0;

impl Member {
    fn new(process: Process, signal: i32) -> Self {
        let mut member = Self {
            process,
            is_left: false,
        };
        member.signal(signal);
        member
    }

    fn signal(&mut self, signal: i32) {
        self.is_left = self.process.signal(signal) == Err(libc::EPERM);
    }

    fn is_live(&self) -> bool {
        !self.is_left && self.process.is_live()
    }

    /// Whether it starts no other process now: it has stopped, has ended, or waits in the kernel for one that it has started.
    fn is_still(&self) -> bool {
        match self.process.stat() {
            _ if self.is_left => true,
            // Of one whose first thread has ended, the others do not show.
            Ok(stat) => stat.has_ended() || matches!(stat.state, b'T' | b't' | b'D' | b'Z'),
            Err(_) => self.process.is_reaped(),
        }
    }
}

/// The `KEY=value` that marks the processes of a tree.
fn mark(name: &str) -> Vec<u8> {
    format!("REDLINE_TREE_{name}=1").into_bytes()
}

/// The name of a child's tree, which no other process of this machine has.
pub(crate) fn name(id: u64) -> String {
    use std::sync::OnceLock;
    static TOKEN: OnceLock<String> = OnceLock::new();
    let token = TOKEN.get_or_init(|| {
        let mut bytes = [0_u8; 12];
        // SAFETY: the kernel writes at most as many bytes as there are. So few are there at once.
        unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    });
    format!("{token}_{id}")
}

/// A block of an environment with the mark of that name.
pub(crate) fn marked(block: &[u8], name: &str) -> Vec<u8> {
    [block, &mark(name), b"\0"].concat()
}
