//! The parent's side of starting a program.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::child_main::{Plan, child_main};
use crate::command::{Command, Tables};
use crate::guarded_stack::GuardedStack;
use crate::sys::{self, Errno, errno};

/// A running child.
pub(crate) struct Launched {
    pub pid: i32,
    pub pidfd: OwnedFd,
}

/// Starts `command` and returns once it runs. The calling thread must have every signal blocked.
pub(crate) fn launch(command: &Command, stack: &GuardedStack) -> Result<Launched, Errno> {
    let request = &command.request;
    let mut tables = Tables::new(request);
    let mut far_ends: Vec<RawFd> = command
        .far_ends
        .iter()
        .map(|fd| fd.as_ref().map_or(-1, AsRawFd::as_raw_fd))
        .collect();
    let nice = sys::niceness(command.caller);
    let mut plan = Plan {
        argv: tables.argv.as_ptr(),
        envp: request.env.table().as_ptr(),
        shell_argv: tables.shell_argv.as_mut_ptr(),
        candidates: &tables.candidates,
        cwd: request
            .cwd
            .as_ref()
            .map_or(ptr::null(), |cwd| cwd.as_ptr().cast()),
        far_ends: &mut far_ends,
        detached: request.detached,
        uid: request.uid,
        gid: request.gid,
        nice: (nice != sys::niceness(0)).then_some(nice),
        error: 0,
    };
    let plan = &raw mut plan;
    let mut pidfd: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: the child runs on a stack of its own and CLONE_VFORK suspends this thread, so everything `plan` borrows
    // outlives the child's use of it; `pidfd` is where CLONE_PIDFD writes.
    let pid = unsafe { libc::clone(child_main, stack.top(), flags, plan.cast(), &raw mut pidfd) };
    if pid < 0 {
        return Err(errno());
    }
    // SAFETY: the kernel created this descriptor for us.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // SAFETY: the child has execed or exited, so `plan` is ours alone again.
    match unsafe { (*plan).error } {
        0 => Ok(Launched { pid, pidfd }),
        error => {
            let _ = sys::reap(&pidfd, true);
            Err(error)
        }
    }
}
