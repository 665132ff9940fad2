//! Reaps orphans, for a process that adopts them: the first of its namespace, or a subreaper.
//!
//! The kernel does not say which of our children are adopted orphans and which we have started. Three facts do: a process that
//! was seen with another parent is an orphan; one created here by `fork`, as libuv does it, is in a list that its first steps
//! fill; one of the engine's is known to the engine. Any other process was created by an addon that calls another function than
//! `fork`, or lost its parent within the second in which it was started. If no other addon is loaded it is an orphan; otherwise
//! its status is left to other code for [`UNKNOWN_ORIGIN_WAIT`].

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
/// Time for which the status of a process of unknown origin is left to other code.
const UNKNOWN_ORIGIN_WAIT: Duration = Duration::from_secs(10);
/// Max processes that `fork` can create here within a tick without one being missed.
const FORKS: usize = 16 * 1024 - 1;

/// The processes that the engine has created since the last scan.
static LAUNCHED: Mutex<Vec<i32>> = Mutex::new(Vec::new());
/// Held for reading while the engine creates a process, and for writing while one is reaped here.
static GATE: RwLock<()> = RwLock::new(());
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Creates a process of the engine with `launch`, which returns its number: it will not be taken for an orphan.
pub(crate) fn record_launch<T>(launch: impl FnOnce() -> (i32, T)) -> (i32, T) {
    if !IS_ON.load(Ordering::Acquire) {
        return launch();
    }
    let _gate = GATE.read().unwrap_or_else(PoisonError::into_inner);
    let (pid, rest) = launch();
    lock(&LAUNCHED).push(pid);
    (pid, rest)
}

/// Starts the reaping, once. Returns true if this process adopts orphans and `/proc` shows them; otherwise the next call checks
/// again.
pub(crate) fn start() -> Result<bool, Errno> {
    static STARTED: Mutex<bool> = Mutex::new(false);
    let mut is_on = lock(&STARTED);
    if !*is_on {
        *is_on = try_start()?;
    }
    Ok(*is_on)
}

fn try_start() -> Result<bool, Errno> {
    let Some(own) = procfs::own_number().filter(|_| adopts_orphans()) else {
        return Ok(false);
    };
    let depth = Process::open(own)?.numbers()?.len();
    let forks = watch_forks()?;
    IS_ON.store(true, Ordering::Release);
    let mut reaper = Reaper {
        own,
        depth,
        forks,
        forks_read: 0,
        created: HashMap::new(),
        last: HashMap::new(),
    };
    reaper.record_existing()?;
    thread::Builder::new()
        .name("spawn-reaper".into())
        .stack_size(256 * 1024)
        .spawn(move || {
            sys::block_signals();
            loop {
                // Sleeps first, for processes being created when this began.
                thread::sleep(TICK);
                reaper.scan();
            }
        })
        .map_err(|error| error.raw_os_error().unwrap_or(libc::EAGAIN))?;
    Ok(true)
}

fn adopts_orphans() -> bool {
    let mut is_subreaper: c_int = 0;
    // SAFETY: the kernel writes the number, which outlives the call.
    unsafe { libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut is_subreaper) };
    std::process::id() == 1 || is_subreaper != 0
}

/// The processes that `fork` has created, in memory that they share with us until their exec.
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

/// Registers `child` as a callback in every process that `fork` creates. glibc links its `pthread_atfork` into each library, and
/// exports the function that it calls; musl exports `pthread_atfork` itself.
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

/// Runs in the new process, which has one thread and may do little.
extern "C" fn on_forked() {
    let Some(&address) = SHARED.get() else { return };
    // SAFETY: see `watch_forks`; a new process has the mapping, too.
    let forks = unsafe { &*(address as *const Forks) };
    // SAFETY: the calls take nothing.
    let (pid, parent) = unsafe { (libc::getpid(), libc::getppid()) };
    // A process created by the new process is not our child.
    if parent == forks.parent.load(Ordering::Relaxed) {
        let index = forks.next.fetch_add(1, Ordering::Relaxed) as usize % FORKS;
        forks.pids[index].store(pid, Ordering::Relaxed);
    }
}

/// A process at the last scan. Together with its start time, a number identifies one process.
#[derive(Clone, Copy, Default)]
struct LastState {
    /// True if it once had another parent.
    is_orphan: bool,
    /// The time when it was first seen to have ended.
    ended: Option<Instant>,
}

/// A process, by its number and its start.
type Key = (u32, u64);

struct Child {
    pid: i32,
    /// Set if it had ended by the last scan.
    ended: Option<(Process, Key)>,
}

struct Reaper {
    own: u32,
    /// The depth of our namespace below that of `/proc`.
    depth: usize,
    forks: &'static Forks,
    /// Number of forks read so far.
    forks_read: u32,
    /// Processes created here, with the number of scans for which they need not show.
    created: HashMap<i32, u32>,
    last: HashMap<Key, LastState>,
}

/// A process created during one scan shows at the next.
const MAX_ABSENT_SCANS: u32 = 2;

impl Reaper {
    /// Notes the children that exist already: other code may wait for any of them.
    fn record_existing(&mut self) -> Result<(), Errno> {
        for number in procfs::numbers()? {
            match self.child_of_ours(number) {
                Ok(Some(pid)) => {
                    self.created.insert(pid, MAX_ABSENT_SCANS);
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

    fn scan(&mut self) {
        // Without the list a scan is skipped: the list shows which processes are children of ours, and which have another parent.
        let Ok(numbers) = procfs::numbers() else {
            return;
        };
        let mut before = std::mem::take(&mut self.last);
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
        self.created.retain(|pid, scans| {
            if shown.contains(pid) {
                *scans = MAX_ABSENT_SCANS;
            } else if is_complete {
                *scans -= 1;
            }
            *scans > 0
        });
        if !is_complete {
            // A later scan shows the process that could not be read now.
            self.last.extend(before);
        }
        self.record_created();
        if ended.is_empty() {
            return;
        }
        let _gate = GATE.write().unwrap_or_else(PoisonError::into_inner);
        self.record_created();
        for (process, key) in ended {
            if let Ok(Some(pid)) = self.number_of(&process)
                && self.may_reap(pid, key)
            {
                reap(pid);
            }
        }
    }

    /// Notes the state of a process; returns `Some` for a child of ours.
    fn examine(
        &mut self,
        number: u32,
        before: &mut HashMap<Key, LastState>,
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
        let mut state = before.remove(&key).unwrap_or_default();
        state.is_orphan |= !is_ours;
        // Only processes that had ended by the last scan, so that code about to wait for one is not too late.
        let may_be_left = is_ours && stat.has_ended() && state.ended.is_some();
        if is_ours && stat.has_ended() {
            state.ended.get_or_insert_with(Instant::now);
        }
        self.last.insert(key, state);
        Ok(pid.map(|pid| Child {
            pid,
            ended: may_be_left.then_some((process, key)),
        }))
    }

    /// Returns its number in our namespace.
    fn number_of(&self, process: &Process) -> Result<Option<i32>, Errno> {
        let numbers = process.numbers()?;
        let place = self.depth.checked_sub(1);
        Ok(place.and_then(|place| numbers.get(place)).copied())
    }

    /// Returns true for an ended child that may be reaped here: its number is in use until it is waited for.
    fn may_reap(&self, pid: i32, key: Key) -> bool {
        let state = &self.last[&key];
        if state.is_orphan {
            return true;
        }
        let has_waited = || {
            state
                .ended
                .is_some_and(|ended| ended.elapsed() >= UNKNOWN_ORIGIN_WAIT)
        };
        !self.created.contains_key(&pid)
            && is_child_of_main_thread(self.own, key.0)
            && (!has_other_addon() || has_waited())
    }

    fn record_created(&mut self) {
        for pid in std::mem::take(&mut *lock(&LAUNCHED)) {
            self.created.insert(pid, MAX_ABSENT_SCANS);
        }
        let next = self.forks.next.load(Ordering::Acquire);
        while self.forks_read != next {
            let index = self.forks_read as usize % FORKS;
            match self.forks.pids[index].swap(0, Ordering::AcqRel) {
                // It has taken its slot and not filled it yet; a process that ended in between never will.
                0 if next.wrapping_sub(self.forks_read) < 64 => return,
                0 => {}
                pid => {
                    self.created.insert(pid, MAX_ABSENT_SCANS);
                }
            }
            self.forks_read = self.forks_read.wrapping_add(1);
        }
    }
}

/// Takes the status of a process that has ended. Other code may have been faster.
fn reap(pid: i32) {
    // SAFETY: no memory is passed.
    unsafe { libc::waitpid(pid, ptr::null_mut(), libc::WNOHANG) };
}

/// Returns true for a child of the main thread: orphans are assigned to it, as are the children that it starts. A kernel without
/// the list does not say.
fn is_child_of_main_thread(own: u32, number: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")) {
        Ok(children) => children
            .split_ascii_whitespace()
            .any(|child| child.parse() == Ok(number)),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Returns true if an addon is loaded that may start processes: any addon other than our own.
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
