//! Reaps orphans, for a process that gets them: the first of its namespace, or a subreaper.
//!
//! The kernel does not say which of our children are orphans that were given to us and which we have started. Three things do:
//! a process that was seen with another parent is an orphan; one that `fork` has made here, as libuv does it, is in a list that
//! its first steps fill; one of the engine's is known to the engine. What is left was made by an addon that calls another
//! function than `fork`, or lost its parent within the second in which it was started. Where no other addon is loaded it is an
//! orphan; otherwise its status stays for whoever waits for it, for [`PATIENCE`].

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_int, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};
use std::{ptr, thread};

use crate::procfs::{self, Process, is_shortage};
use crate::sys::{self, Errno, errno, lock};

const TICK: Duration = Duration::from_millis(500);
/// How long the status of a process of unknown origin is left to others.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many processes `fork` can make here within a tick and be noticed.
const FORKS: usize = 16 * 1024 - 1;

/// The processes that the engine has made, since the last look.
static LAUNCHED: Mutex<Vec<i32>> = Mutex::new(Vec::new());
/// Held for reading while the engine makes a process, and for writing while one is reaped here.
static GATE: RwLock<()> = RwLock::new(());
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Makes a process of the engine's by `launch`, which gives its number: it will not be taken for an orphan.
pub(crate) fn known<T>(launch: impl FnOnce() -> (i32, T)) -> (i32, T) {
    if !IS_ON.load(Ordering::Acquire) {
        return launch();
    }
    let _gate = GATE.read().unwrap_or_else(PoisonError::into_inner);
    let (pid, rest) = launch();
    lock(&LAUNCHED).push(pid);
    (pid, rest)
}

/// Starts the reaping, once. Whether orphans come to this process, and `/proc` shows them: the next call asks again where they do not.
pub(crate) fn start() -> Result<bool, Errno> {
    static STARTED: Mutex<bool> = Mutex::new(false);
    let mut is_on = lock(&STARTED);
    if !*is_on {
        *is_on = try_start()?;
    }
    Ok(*is_on)
}

fn try_start() -> Result<bool, Errno> {
    let Some(own) = procfs::own_number().filter(|_| gets_orphans()) else {
        return Ok(false);
    };
    let depth = Process::open(own)?.numbers()?.len();
    let forks = watch_forks()?;
    IS_ON.store(true, Ordering::Release);
    let mut reaper = Reaper {
        own,
        depth,
        forks,
        read: 0,
        made: HashMap::new(),
        seen: HashMap::new(),
    };
    reaper.note_present()?;
    thread::Builder::new()
        .name("spawn-reaper".into())
        .stack_size(256 * 1024)
        .spawn(move || {
            sys::block_signals();
            loop {
                // First, for what was being made when this began.
                thread::sleep(TICK);
                reaper.look();
            }
        })
        .map_err(|error| error.raw_os_error().unwrap_or(libc::EAGAIN))?;
    Ok(true)
}

fn gets_orphans() -> bool {
    let mut is_subreaper: c_int = 0;
    // SAFETY: the kernel writes the number, which outlives the call.
    unsafe { libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut is_subreaper) };
    std::process::id() == 1 || is_subreaper != 0
}

/// The processes that `fork` has made, in memory that they share with us until their exec.
struct Forks {
    parent: AtomicI32,
    next: AtomicU32,
    pids: [AtomicI32; FORKS],
}

static SHARED: OnceLock<usize> = OnceLock::new();

fn watch_forks() -> Result<&'static Forks, Errno> {
    if let Some(&address) = SHARED.get() {
        // SAFETY: the pages of a start that failed later on: see below.
        return Ok(unsafe { &*(address as *const Forks) });
    }
    // SAFETY: no memory is passed. The kernel gives zeroed pages, which are valid atomics, and they are never unmapped.
    let forks = unsafe {
        let memory = libc::mmap(
            ptr::null_mut(),
            size_of::<Forks>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if memory == libc::MAP_FAILED {
            return Err(errno());
        }
        &*memory.cast::<Forks>()
    };
    forks
        .parent
        .store(std::process::id().cast_signed(), Ordering::Relaxed);
    let address = *SHARED.get_or_init(|| ptr::from_ref(forks) as usize);
    register(on_forked)?;
    // SAFETY: the pages above, or those of a start that came first.
    Ok(unsafe { &*(address as *const Forks) })
}

/// Has `child` called in every process that `fork` makes. glibc links its `pthread_atfork` into each library, and shows what
/// that calls; musl has the function itself.
fn register(child: extern "C" fn()) -> Result<(), Errno> {
    type Handler = Option<extern "C" fn()>;
    type Glibc = unsafe extern "C" fn(Handler, Handler, Handler, *mut c_void) -> c_int;
    type Posix = unsafe extern "C" fn(Handler, Handler, Handler) -> c_int;
    let find = |name: &CStr| {
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    };
    // SAFETY: the functions have these types wherever they exist, and the handler is never unloaded: the engine's threads run.
    let error = unsafe {
        if let Some(found) = find(c"__register_atfork") {
            let call = std::mem::transmute::<*mut c_void, Glibc>(found);
            call(None, None, Some(child), ptr::null_mut())
        } else if let Some(found) = find(c"pthread_atfork") {
            let call = std::mem::transmute::<*mut c_void, Posix>(found);
            call(None, None, Some(child))
        } else {
            libc::ENOSYS
        }
    };
    if error == 0 { Ok(()) } else { Err(error) }
}

/// In the new process, which has one thread and may do little.
extern "C" fn on_forked() {
    let Some(&address) = SHARED.get() else { return };
    // SAFETY: see `watch_forks`; a new process has the mapping, too.
    let forks = unsafe { &*(address as *const Forks) };
    // SAFETY: the calls take nothing.
    let (pid, parent) = unsafe { (libc::getpid(), libc::getppid()) };
    // A process that such a process makes is not our child.
    if parent == forks.parent.load(Ordering::Relaxed) {
        let index = forks.next.fetch_add(1, Ordering::Relaxed) as usize % FORKS;
        forks.pids[index].store(pid, Ordering::Relaxed);
    }
}

/// A process at the last look. With its start, a number stands for one process.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Whether it had another parent once.
    is_orphan: bool,
    /// When it was first seen to have ended.
    ended: Option<Instant>,
}

/// A process by its number and its start.
type Key = (u32, u64);

/// A child of this process.
struct Child {
    pid: i32,
    /// That it had ended by the last look.
    ended: Option<(Process, Key)>,
}

struct Reaper {
    own: u32,
    /// How deep our namespace is below that of `/proc`.
    depth: usize,
    forks: &'static Forks,
    /// How many of the forks have been read.
    read: u32,
    /// Those that were made here, and for how many looks they need not show.
    made: HashMap<i32, u32>,
    seen: HashMap<Key, Seen>,
}

/// A process that was made during one look shows at the next.
const LOOKS: u32 = 2;

impl Reaper {
    /// The children that this process has already may all be ones that somebody waits for.
    fn note_present(&mut self) -> Result<(), Errno> {
        for number in procfs::numbers()? {
            match self.child_of_ours(number) {
                Ok(Some(pid)) => {
                    self.made.insert(pid, LOOKS);
                }
                Err(error) if is_shortage(error) => return Err(error),
                Ok(None) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn child_of_ours(&self, number: u32) -> Result<Option<i32>, Errno> {
        let process = Process::open(number)?;
        let is_ours = process.stat()?.parent == self.own;
        if is_ours {
            self.number_of(&process)
        } else {
            Ok(None)
        }
    }

    fn look(&mut self) {
        // Without them all, nothing can be said about any: another was a child of somebody here, or had another parent.
        let Ok(numbers) = procfs::numbers() else {
            return;
        };
        let mut before = std::mem::take(&mut self.seen);
        let mut shown = HashSet::new();
        let mut ended = Vec::new();
        let mut is_complete = true;
        for number in numbers {
            match self.examine(number, &mut before) {
                Ok(Some(child)) => {
                    shown.insert(child.pid);
                    ended.extend(child.ended);
                }
                Ok(None) => {}
                Err(error) => is_complete &= !is_shortage(error),
            }
        }
        self.made.retain(|pid, looks| {
            if shown.contains(pid) {
                *looks = LOOKS;
            } else if is_complete {
                *looks -= 1;
            }
            *looks > 0
        });
        if !is_complete {
            // What could not be read now shows at a later look.
            self.seen.extend(before);
        }
        self.note_made();
        if ended.is_empty() {
            return;
        }
        let _gate = GATE.write().unwrap_or_else(PoisonError::into_inner);
        self.note_made();
        for (process, key) in ended {
            if let Ok(Some(pid)) = self.number_of(&process)
                && self.may_reap(pid, key)
            {
                reap(pid);
            }
        }
    }

    /// Notes what a process is now; `Some` for a child of ours.
    fn examine(
        &mut self,
        number: u32,
        before: &mut HashMap<Key, Seen>,
    ) -> Result<Option<Child>, Errno> {
        let process = Process::open(number)?;
        let stat = process.stat()?;
        let is_ours = stat.parent == self.own;
        let pid = if is_ours {
            self.number_of(&process)?
        } else {
            None
        };
        let key = (number, stat.started);
        let mut seen = before.remove(&key).unwrap_or_default();
        seen.is_orphan |= !is_ours;
        // Only what was there at the last look, so that nobody who is about to wait comes too late.
        let is_left = is_ours && stat.has_ended() && seen.ended.is_some();
        if is_ours && stat.has_ended() {
            seen.ended.get_or_insert_with(Instant::now);
        }
        self.seen.insert(key, seen);
        Ok(pid.map(|pid| Child {
            pid,
            ended: is_left.then_some((process, key)),
        }))
    }

    /// Its number in our namespace.
    fn number_of(&self, process: &Process) -> Result<Option<i32>, Errno> {
        let numbers = process.numbers()?;
        let place = self.depth.checked_sub(1);
        Ok(place.and_then(|place| numbers.get(place)).copied())
    }

    /// It is a child of ours that has ended: its number is in use until somebody waits for it.
    fn may_reap(&self, pid: i32, key: Key) -> bool {
        let seen = &self.seen[&key];
        if seen.is_orphan {
            return true;
        }
        let has_waited = || seen.ended.is_some_and(|ended| ended.elapsed() >= PATIENCE);
        !self.made.contains_key(&pid)
            && is_child_of_main_thread(self.own, key.0)
            && (!has_other_addon() || has_waited())
    }

    fn note_made(&mut self) {
        for pid in std::mem::take(&mut *lock(&LAUNCHED)) {
            self.made.insert(pid, LOOKS);
        }
        let next = self.forks.next.load(Ordering::Acquire);
        while self.read != next {
            let index = self.read as usize % FORKS;
            match self.forks.pids[index].swap(0, Ordering::AcqRel) {
                // It has taken its place and not yet filled it; one that ended in between never will.
                0 if next.wrapping_sub(self.read) < 64 => return,
                0 => {}
                pid => {
                    self.made.insert(pid, LOOKS);
                }
            }
            self.read = self.read.wrapping_add(1);
        }
    }
}

/// Takes the status of a process that has ended. Somebody else may have been faster.
fn reap(pid: i32) {
    // SAFETY: no memory is passed.
    unsafe { libc::waitpid(pid, ptr::null_mut(), libc::WNOHANG) };
}

/// Orphans are given to the main thread, as are the children that it starts. A kernel without the list does not say.
fn is_child_of_main_thread(own: u32, number: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")) {
        Ok(children) => children
            .split_ascii_whitespace()
            .any(|child| child.parse() == Ok(number)),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Whether an addon is loaded that may start processes: any but those of this house.
fn has_other_addon() -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return true;
    };
    maps.lines()
        .filter_map(|line| line.split_once('/'))
        .map(|(_, path)| Path::new(path.trim_end_matches(" (deleted)")))
        .filter(|path| path.extension().is_some_and(|ending| ending == "node"))
        .any(|path| !is_own_addon(path))
}

fn is_own_addon(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| {
            name.starts_with("child-process.linux-") || name.starts_with("http.linux-")
        })
}
