//! One process from its start to its end, on the calling thread, for the Sync functions.
//!
//! libuv reaps by process id and only the processes it started, so its SIGCHLD handling does not see this one; a signal that
//! interrupts a wait is handled by the loop, later, as it is for Node's own Sync functions.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libc::{POLLIN, POLLOUT, pollfd};

use crate::command::{Command, open_stdio};
use crate::group::Group;
use crate::guarded_stack::GuardedStack;
use crate::killer::{TreeSignal, end_now};
use crate::launch::{Launched, launch};
use crate::lookup::Found;
use crate::measure::Usage;
use crate::request::Request;
use crate::sys::{self, Errno, SignalMask, Status};
use crate::tree::Tree;

/// Node's read size, and the max by which output exceeds its limit.
const BLOCK: usize = 64 * 1024;
/// Number of reads from a pipe that fills whole blocks before the others are read.
const MAX_READS: usize = 32;

/// Returns an id for a tree, distinct from those of a port's children.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1 << 47);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

thread_local! {
    /// Kept, since unmapping it would interrupt every core that the child or a thread of ours has run on.
    static STACK: RefCell<Option<GuardedStack>> = const { RefCell::new(None) };
}

/// Limits that end a process early.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the call on; `None`: no limit.
    pub timeout: Option<Duration>,
    /// Max bytes of all outputs together; `None`: no limit.
    pub output: Option<usize>,
    /// The signal for a process that exceeds one of them.
    pub signal: i32,
    /// Time for the processes of a tree to end after the signal.
    pub grace: Duration,
}

/// The outcome of a process run to its end.
#[derive(Debug)]
pub struct Outcome {
    /// Its former process id.
    pub pid: i32,
    /// Exit code and signal, one of them 0. `None` if other code in this process has waited for it.
    pub status: Option<(i32, i32)>,
    /// Its resource usage, if requested and if no other code has waited for it.
    pub usage: Option<Usage>,
    /// 0, or the error: ETIMEDOUT, ENOBUFS, an error of a pipe, ECHILD if the exit status is lost.
    pub error: Errno,
    /// Output of each pipe except stdin, by descriptor.
    pub outputs: Vec<Option<Vec<u8>>>,
}

/// Starts a process, writes `input` to its stdin, collects its outputs, and returns when it and its outputs have ended.
///
/// # Errors
/// The error of a failed start.
pub fn run(mut request: Request, input: &[u8], limits: Limits) -> Result<Outcome, Errno> {
    let deadline = limits
        .timeout
        .and_then(|timeout| Instant::now().checked_add(timeout));
    let (near_ends, far_ends) = open_stdio(&request.stdio)?;
    let tree = request.mark_tree(next_id());
    let mut command = Command {
        request,
        tree,
        far_ends,
        found: Found::default(),
        nice: sys::niceness(sys::thread_id()),
    };
    let Launched {
        pid,
        pidfd,
        floor_kib,
    } = STACK.with_borrow_mut(|kept| {
        let stack = match kept {
            Some(stack) => stack,
            none => none.insert(GuardedStack::new()?),
        };
        // The child runs in our memory until it execs: a handler of ours must not run there.
        let _blocked = SignalMask::block_all();
        launch(&command, stack)
    })?;
    // The end of an output depends on the child alone.
    command.far_ends.clear();
    let mut running = Running {
        pidfd: Arc::new(pidfd),
        floor_kib,
        tree: command.tree.take(),
        is_measured: command.request.extras.usage,
        usage: None,
        has_ended: false,
        status: None,
        pipes: near_ends.into_iter().map(Pipe::new).collect(),
        input,
        gathered: 0,
        limits,
        deadline,
        is_killed: false,
        error: 0,
        pipe_error: 0,
    };
    running.write();
    while running.wait() {}
    if let Some(group) = running.tree.as_deref().and_then(Group::find) {
        group.remove();
    }
    Ok(Outcome {
        pid,
        status: running.status.map(|Status { code, signal }| (code, signal)),
        usage: running.usage,
        error: if running.error == 0 {
            running.pipe_error
        } else {
            running.error
        },
        outputs: running
            .pipes
            .into_iter()
            .enumerate()
            .map(|(index, pipe)| pipe.is_output(index).then_some(pipe.bytes))
            .collect(),
    })
}

/// The near end of a pipe.
struct Pipe {
    /// `None` if it has ended or does not exist.
    fd: Option<OwnedFd>,
    exists: bool,
    bytes: Vec<u8>,
}

impl Pipe {
    fn new(fd: Option<OwnedFd>) -> Self {
        Self {
            exists: fd.is_some(),
            fd,
            bytes: Vec::new(),
        }
    }

    fn is_output(&self, index: usize) -> bool {
        self.exists && index > 0
    }
}

struct Running<'a> {
    pidfd: Arc<OwnedFd>,
    floor_kib: u64,
    /// The name of its tree.
    tree: Option<String>,
    is_measured: bool,
    usage: Option<Usage>,
    has_ended: bool,
    /// `None` after the end too, if other code has taken the status.
    status: Option<Status>,
    pipes: Vec<Pipe>,
    /// The remaining input for stdin.
    input: &'a [u8],
    gathered: usize,
    limits: Limits,
    deadline: Option<Instant>,
    is_killed: bool,
    error: Errno,
    pipe_error: Errno,
}

impl Running<'_> {
    /// Waits for an event and handles it. Returns true if there is more to wait for.
    fn wait(&mut self) -> bool {
        let mut entries: Vec<pollfd> = (0..self.pipes.len())
            .map(|index| self.pipe_entry(index))
            .collect();
        entries.push(match self.has_ended {
            true => UNWATCHED,
            false => watch(&self.pidfd, POLLIN),
        });
        if entries.iter().all(|entry| entry.fd < 0) {
            return false;
        }
        if self.deadline.is_some_and(|end| Instant::now() >= end) {
            self.fail(libc::ETIMEDOUT);
            return true;
        }
        sys::poll(&mut entries, self.deadline);
        // The pipes first: an exit says nothing about their remaining contents.
        for (index, _) in entries.iter().enumerate().filter(|(_, e)| e.revents != 0) {
            match index {
                0 => self.write(),
                index if index < self.pipes.len() => self.read(index),
                _ => self.reap(),
            }
        }
        true
    }

    fn pipe_entry(&self, index: usize) -> pollfd {
        match &self.pipes[index].fd {
            Some(fd) if index > 0 => watch(fd, POLLIN),
            Some(fd) if !self.input.is_empty() => watch(fd, POLLOUT),
            _ => UNWATCHED,
        }
    }

    fn read(&mut self, index: usize) {
        for _ in 0..MAX_READS {
            let pipe = &mut self.pipes[index];
            let Some(fd) = &pipe.fd else { return };
            let room = BLOCK - pipe.bytes.len() % BLOCK;
            pipe.bytes.reserve(room);
            match sys::receive(fd, &mut pipe.bytes, room) {
                Err(libc::EAGAIN) => return,
                Ok(0) => pipe.fd = None,
                Err(error) => {
                    pipe.fd = None;
                    self.fail_pipe(error);
                }
                Ok(read) => {
                    self.gathered += read;
                    if self.limits.output.is_some_and(|max| self.gathered > max) {
                        self.fail(libc::ENOBUFS);
                    } else if read < room {
                        return;
                    }
                }
            }
        }
    }

    /// Writes as much input to stdin as fits, and its end once all is written.
    fn write(&mut self) {
        let Some(Pipe { fd: Some(fd), .. }) = self.pipes.first() else {
            self.input = &[];
            return;
        };
        while !self.input.is_empty() {
            match sys::send(fd, self.input) {
                Ok(written) => self.input = &self.input[written..],
                Err(libc::EAGAIN) => return,
                Err(error) => {
                    self.input = &[];
                    self.fail_pipe(error);
                    return;
                }
            }
        }
        // One direction only: a child may write to its stdin, as with Node.
        sys::end_writing(fd);
    }

    fn reap(&mut self) {
        // SAFETY: an all-zero `rusage` is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        match sys::reap_with(&self.pidfd, false, self.is_measured.then_some(&mut usage)) {
            // It is still running.
            Ok(None) => return,
            Ok(status) => {
                self.status = status;
                self.usage = self.is_measured.then(|| Usage::new(&usage, self.floor_kib));
            }
            Err(error) => self.fail_pipe(error),
        }
        self.has_ended = true;
    }

    /// Handles an exceeded limit: the first time, the process is killed. Other processes may hold its pipes, so these are not
    /// waited for either.
    fn fail(&mut self, error: Errno) {
        self.deadline = None;
        if self.error == 0 {
            self.error = error;
        }
        if self.is_killed {
            return;
        }
        self.is_killed = true;
        if let Some(name) = &self.tree {
            let root = (!self.has_ended).then(|| Arc::clone(&self.pidfd));
            let (signal, grace) = (self.limits.signal, self.limits.grace);
            end_now(Tree::new(root, Some(name)), TreeSignal { signal, grace });
        } else if !self.has_ended
            && sys::send_signal(&self.pidfd, self.limits.signal)
                .is_err_and(|error| error != libc::ESRCH)
        {
            let _ = sys::send_signal(&self.pidfd, libc::SIGKILL);
        }
        self.input = &[];
        for pipe in &mut self.pipes {
            pipe.fd = None;
        }
    }

    fn fail_pipe(&mut self, error: Errno) {
        if self.pipe_error == 0 {
            self.pipe_error = error;
        }
    }
}

/// An entry that poll skips.
const UNWATCHED: pollfd = pollfd {
    fd: -1,
    events: 0,
    revents: 0,
};

fn watch(fd: &OwnedFd, events: i16) -> pollfd {
    pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    }
}
