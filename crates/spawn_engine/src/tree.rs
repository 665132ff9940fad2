//! A child and its descendants: found through `/proc`, even after they have changed their session or lost their parent, and
//! ended.
//!
//! A descendant is a process whose parent is one, or whose environment has the mark that the child was started with. The parent
//! identifies processes that clear their environment, the mark identifies orphans. If the child has a control group, the kernel
//! knows them, too.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::group::Group;
use crate::procfs::{self, Process, is_shortage};
use crate::sys::{self, Errno};

/// Number of further scans for processes that were executing a program at the time, and show no environment.
const MAX_RESCANS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(1);
/// Max wait for processes to stop.
const MAX_STOP_WAIT: Duration = Duration::from_secs(2);
/// Max wait for killed processes to end: one in an uninterruptible sleep ends when the kernel permits.
const MAX_KILL_WAIT: Duration = Duration::from_secs(10);

pub(crate) struct Tree {
    /// The child, as long as it has not been reaped.
    root: Option<Arc<OwnedFd>>,
    mark: Option<Vec<u8>>,
    group: Option<Group>,
    found: HashMap<u32, Member>,
    /// Processes without an environment, by number and start, with the number of scans that found them so.
    without_environment: HashMap<(u32, u64), u32>,
}

impl Tree {
    /// Creates the tree of a child. `name` is that of its mark and group, if it was started with one.
    pub fn new(root: Option<Arc<OwnedFd>>, name: Option<&str>) -> Self {
        Self {
            root,
            mark: name.map(mark),
            group: name.and_then(Group::find),
            found: HashMap::new(),
            without_environment: HashMap::new(),
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
        // The end of the child may free the descriptors that are missing.
        let end = Instant::now() + MAX_KILL_WAIT;
        while found == Found::Unreadable && Instant::now() < end {
            found = self.find_all(signal);
        }
    }

    fn signal_root(&self, signal: i32) {
        if let Some(root) = &self.root {
            let _ = sys::send_signal(root, signal);
        }
    }

    /// Returns true while a process of the tree may be live: one that cannot be examined counts as live.
    pub fn is_alive(&mut self) -> bool {
        self.has_live() || self.find_all(NONE) == Found::Unreadable || self.has_live()
    }

    /// Kills every process of the tree, including those started meanwhile.
    pub fn kill(&mut self) {
        let end = Instant::now() + MAX_KILL_WAIT;
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
            if self.scan(NONE) == Found::None || Instant::now() >= end {
                return;
            }
        }
    }

    /// Stops every process of the tree: a stopped process starts no other, and its descendants keep their parent until all of
    /// them are known.
    fn stop(&mut self) {
        for member in self.found.values_mut() {
            member.signal(libc::SIGSTOP);
        }
        let end = Instant::now() + MAX_STOP_WAIT;
        while Instant::now() < end {
            self.find_all(libc::SIGSTOP);
            // A process that was starting another when the signal came has finished that once it has stopped.
            let is_stopped = self.found.values().all(Member::is_stopped);
            if is_stopped && self.scan(libc::SIGSTOP) != Found::New {
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

    /// Scans until nothing new is found. Returns the result of the last scan.
    fn find_all(&mut self, signal: i32) -> Found {
        let end = Instant::now() + MAX_KILL_WAIT;
        let mut unsure = 0;
        loop {
            let found = self.scan(signal);
            match found {
                Found::New => unsure = 0,
                Found::None => return found,
                Found::Unsure | Found::Unreadable => unsure += 1,
            }
            if unsure > MAX_RESCANS || Instant::now() >= end {
                return found;
            }
            if found != Found::New {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Scans all processes once; new ones receive the signal.
    fn scan(&mut self, signal: i32) -> Found {
        self.found.retain(|_, member| member.process.is_live());
        let root = self.root_number();
        let mut found = match root {
            Err(error) if is_shortage(error) => Found::Unreadable,
            _ => Found::None,
        };
        let numbers = match procfs::numbers() {
            Ok(numbers) => numbers,
            Err(error) if is_shortage(error) => return Found::Unreadable,
            // Without a /proc, only the child is known.
            Err(_) => return found,
        };
        let own = procfs::own_number();
        // By number, with the parent's: they may outnumber the descriptors available to this process.
        let mut others = Vec::new();
        for number in numbers {
            // A number in `found` is taken: its process has not been reaped, and occupies it.
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
        // The pidfd is open by now, so the number was still the child's.
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

    /// Returns true if a process without an environment may be executing a program right now: most have one again at the next
    /// scan.
    fn may_change(&mut self, process: (u32, u64)) -> bool {
        let scans = self.without_environment.entry(process).or_default();
        *scans += 1;
        *scans <= MAX_RESCANS
    }

    /// Adds the processes whose parents belong to the tree.
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
                // Another process may have the number by now.
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

    /// Returns the process, if its parent belongs to the tree. The parent's number is read while the process that is held under
    /// it cannot have been reaped: it is that process.
    fn is_parent_of(&self, process: Process) -> Result<Option<Process>, Errno> {
        let stat = process.stat()?;
        let parent = self.found.get(&stat.parent);
        let is_child = parent.is_some_and(|parent| !parent.process.is_reaped());
        Ok(is_child.then_some(process))
    }

    /// Returns true if the kernel or the environment assigns it to the tree; `None` if neither can decide now.
    fn belongs(&self, process: &Process) -> Result<Option<bool>, Errno> {
        if let Some(group) = &self.group {
            match process.groups() {
                Ok(groups) if group.contains(&groups) => return Ok(Some(true)),
                Err(error) if is_shortage(error) => return Err(error),
                _ => {}
            }
        }
        let Some(mark) = &self.mark else {
            return Ok(Some(false));
        };
        match process.environment() {
            // It is executing a program, or has an empty environment.
            Ok(environment) if environment.is_empty() => Ok(None),
            Err(libc::EIO) => Ok(None),
            Ok(environment) => Ok(Some(
                environment
                    .split(|&byte| byte == 0)
                    .any(|pair| pair == mark),
            )),
            Err(error) if is_shortage(error) => Err(error),
            // Another user's process, whose parent may be known.
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

/// The outcome of a scan, ordered by precedence, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// Nothing new was found.
    None,
    /// Some were executing a program at the time, and show no environment.
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

struct Member {
    process: Process,
    /// True if it has become another user's, who alone may signal it: its end is not waited for.
    is_foreign: bool,
}

/// The null signal: delivers nothing, and reports whether another signal would be delivered.
const NONE: i32 = 0;

impl Member {
    fn new(process: Process, signal: i32) -> Self {
        let mut member = Self {
            process,
            is_foreign: false,
        };
        member.signal(signal);
        member
    }

    fn signal(&mut self, signal: i32) {
        self.is_foreign = self.process.signal(signal) == Err(libc::EPERM);
    }

    fn is_live(&self) -> bool {
        !self.is_foreign && self.process.is_live()
    }

    /// Returns true for a process that starts no other now: it has stopped, has ended, or waits in the kernel for a process that
    /// it has started.
    fn is_stopped(&self) -> bool {
        match self.process.stat() {
            _ if self.is_foreign => true,
            // /proc does not show the other threads of a process whose first one has ended.
            Ok(stat) => stat.has_ended() || matches!(stat.state, b'T' | b't' | b'D' | b'Z'),
            Err(_) => self.process.is_reaped(),
        }
    }
}

/// Returns the `KEY=value` that marks the processes of a tree.
fn mark(name: &str) -> Vec<u8> {
    format!("REDLINE_TREE_{name}=1").into_bytes()
}

/// Returns the name of a child's tree, unique on this machine.
pub(crate) fn name(id: u64) -> String {
    use std::sync::OnceLock;
    static TOKEN: OnceLock<String> = OnceLock::new();
    let token = TOKEN.get_or_init(|| {
        let mut bytes = [0_u8; 12];
        // SAFETY: the kernel writes at most the length of the buffer. A request this small is filled at once.
        unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    });
    format!("{token}_{id}")
}

/// Returns an environment block with the mark of that name.
pub(crate) fn marked(block: &[u8], name: &str) -> Vec<u8> {
    [block, &mark(name), b"\0"].concat()
}
