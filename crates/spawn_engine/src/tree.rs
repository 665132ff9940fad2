//! A child and its descendants: found by `/proc`, also after they have changed their session or lost their parent, and ended.
//!
//! A descendant is a process whose parent is one, or whose environment has the mark that the child was started with. The parent
//! does for those that clear their environment, the mark for orphans. Where the child has a control group, the kernel knows them, too.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::group::Group;
use crate::procfs::{self, Process};
use crate::sys;

/// How often to look again for processes that were executing a program just then, and show no environment.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(1);
/// How long stops are waited for.
const STOP: Duration = Duration::from_secs(2);
/// How long the ends of killed processes are waited for: one in an uninterruptible sleep ends when the kernel lets it.
const KILL: Duration = Duration::from_secs(10);

pub(crate) struct Tree {
    /// The child, as long as it has not been reaped.
    root: Option<OwnedFd>,
    mark: Option<Vec<u8>>,
    group: Option<Group>,
    found: HashMap<u32, Process>,
    /// Processes without an environment, by number and start, and how often that was seen.
    bare: HashMap<(u32, u64), u32>,
}

impl Tree {
    /// `name` is that of the child's mark and group, if it was started with one.
    pub fn new(root: Option<OwnedFd>, name: Option<&str>) -> Self {
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
        self.find_all(|_| {});
        if let Some(root) = &self.root {
            let _ = sys::send_signal(root, signal);
        }
        let root = self.root_number();
        for (number, process) in &self.found {
            if Some(*number) != root {
                let _ = process.signal(signal);
            }
        }
    }

    /// Whether a process of the tree has not ended.
    pub fn is_alive(&mut self) -> bool {
        if self.has_live() {
            return true;
        }
        self.find_all(|_| {});
        self.has_live()
    }

    /// Kills every process of the tree, also those that are started meanwhile.
    pub fn kill(&mut self) {
        let end = Instant::now() + KILL;
        loop {
            if let Some(group) = &self.group {
                group.kill();
            }
            self.stop();
            for process in self.found.values() {
                let _ = process.signal(libc::SIGKILL);
            }
            while self.has_live() && Instant::now() < end {
                std::thread::sleep(PAUSE);
            }
            if self.look(|_| {}) == Found::None || Instant::now() >= end {
                return;
            }
        }
    }

    /// Stops every process of the tree: a stopped one starts no other, and its descendants keep their parent until all of them are
    /// known.
    fn stop(&mut self) {
        let stop = |process: &Process| {
            let _ = process.signal(libc::SIGSTOP);
        };
        self.found.values().for_each(stop);
        let end = Instant::now() + STOP;
        while Instant::now() < end {
            self.find_all(stop);
            // One that was starting another when the signal came is done with that once it has stopped.
            if self.found.values().all(is_still) && self.look(stop) != Found::New {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn has_live(&self) -> bool {
        self.found.values().any(is_live)
    }

    fn root_number(&self) -> Option<u32> {
        self.root.as_ref().and_then(procfs::number_of)
    }

    /// Looks until there is nothing new.
    fn find_all(&mut self, on_found: impl Fn(&Process)) {
        let end = Instant::now() + KILL;
        let mut unsure = 0;
        while unsure <= LOOKS && Instant::now() < end {
            match self.look(&on_found) {
                Found::New => unsure = 0,
                Found::None => return,
                Found::Unsure => {
                    unsure += 1;
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Looks at all processes once.
    fn look(&mut self, on_found: impl Fn(&Process)) -> Found {
        self.found.retain(|_, process| is_live(process));
        let (mut is_new, mut unsure) = (false, false);
        // By number, with the parent's: there may be more of them than this process may have descriptors.
        let mut others = Vec::new();
        let (own, root) = (procfs::own_number(), self.root_number());
        for number in procfs::numbers() {
            // A number in `found` is taken: its process has not been reaped, and holds it.
            if Some(number) == own || self.found.contains_key(&number) {
                continue;
            }
            let process = match Process::open(number) {
                Ok(process) => process,
                Err(error) => {
                    // Without a free descriptor, a process of the tree may have been missed.
                    unsure |= matches!(error, libc::EMFILE | libc::ENFILE);
                    continue;
                }
            };
            let Some(stat) = process.stat() else { continue };
            if stat.is_kernel_thread || stat.has_ended() {
                continue;
            }
            let is_root = Some(number) == root && self.root_number() == root;
            let belongs = if is_root {
                Some(true)
            } else {
                self.belongs(&process)
            };
            if belongs != Some(true) {
                if belongs.is_none() && self.may_change((number, stat.started)) {
                    unsure = true;
                }
                others.push((number, stat.parent));
                continue;
            }
            on_found(&process);
            self.found.insert(number, process);
            is_new = true;
        }
        is_new |= self.adopt(others, on_found);
        match (is_new, unsure) {
            (true, _) => Found::New,
            (false, true) => Found::Unsure,
            (false, false) => Found::None,
        }
    }

    /// Whether one that shows no environment may be executing a program just now: most have one again at the next look.
    fn may_change(&mut self, process: (u32, u64)) -> bool {
        let looks = self.bare.entry(process).or_default();
        *looks += 1;
        *looks <= LOOKS
    }

    /// Adds those whose parents are of the tree. Whether there were any.
    fn adopt(&mut self, mut others: Vec<(u32, u32)>, on_found: impl Fn(&Process)) -> bool {
        let mut has_found = false;
        loop {
            let (children, rest): (Vec<_>, Vec<_>) = others
                .into_iter()
                .partition(|(_, parent)| self.found.contains_key(parent));
            if children.is_empty() {
                return has_found;
            }
            others = rest;
            for (number, _) in children {
                // Another may have the number by now.
                if let Ok(process) = Process::open(number)
                    && self.is_parent_of(&process)
                {
                    on_found(&process);
                    self.found.insert(number, process);
                    has_found = true;
                }
            }
        }
    }

    /// The parent's number is read while the process that is held under it cannot have been reaped: it is that process.
    fn is_parent_of(&self, process: &Process) -> bool {
        process
            .stat()
            .and_then(|stat| self.found.get(&stat.parent))
            .is_some_and(|parent| parent.stat().is_some())
    }

    /// Whether the kernel or the environment says that it is of the tree; `None` where neither can say so now.
    fn belongs(&self, process: &Process) -> Option<bool> {
        if let Some(group) = &self.group
            && process.groups().is_some_and(|groups| group.has(&groups))
        {
            return Some(true);
        }
        let Some(mark) = &self.mark else {
            return Some(false);
        };
        match process.environment() {
            // It executes a program just now, or has no environment at all.
            Ok(environment) if environment.is_empty() => None,
            Ok(environment) => Some(
                environment
                    .split(|&byte| byte == 0)
                    .any(|pair| pair == mark),
            ),
            Err(_) => Some(false),
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    None,
    Unsure,
    New,
}

/// Whether it starts no other process now: it has stopped, has ended, or waits in the kernel for one that it has started.
fn is_still(process: &Process) -> bool {
    process
        .stat()
        .is_none_or(|stat| stat.has_ended() || matches!(stat.state, b'T' | b't' | b'D'))
}

fn is_live(process: &Process) -> bool {
    process.stat().is_some_and(|stat| !stat.has_ended())
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
