//! Code that runs in the child between clone and exec.
//!
//! The child shares the parent's memory here and is alone on its stack: nothing may allocate, lock, panic, or call a libc
//! function that keeps state (setuid and friends signal every thread of the parent, so they are raw calls).

use std::os::fd::RawFd;
use std::ptr;

use libc::{c_char, c_int, c_long, c_void};

use crate::sys::Errno;

/// Everything the child needs, prepared by the parent.
pub(crate) struct ChildPlan<'a> {
    pub argv: *const *const c_char,
    pub envp: *const *const c_char,
    pub shell_argv: *mut *const c_char,
    pub candidates: &'a [*const c_char],
    pub cwd: *const c_char,
    /// By descriptor; -1 is "ignore". The child reorders them in place.
    pub far_ends: &'a mut [RawFd],
    /// The descriptors above 2 to keep, in order, when the child starts with the parent's table; `None` when it starts with a
    /// copy.
    pub needed: Option<&'a [RawFd]>,
    /// The folder that `cwd` named at the call, or -1.
    pub folder: RawFd,
    /// The program's file at the call, or -1.
    pub program: RawFd,
    pub detached: bool,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    pub nice: Option<i32>,
    /// Descriptor through which the child joins its control group, or -1.
    pub group_fd: RawFd,
    /// This process's id, for a child that dies with it.
    pub parent: Option<libc::pid_t>,
    /// Reason for a failed start, reported to the parent through the shared memory.
    pub error: Errno,
}

/// The entry point given to clone.
pub(crate) extern "C" fn child_main(plan: *mut c_void) -> c_int {
    // SAFETY: the parent passes its `ChildPlan` and is suspended until this process execs or exits.
    let plan = unsafe { &mut *plan.cast::<ChildPlan>() };
    // SAFETY: this is the cloned child, for which these functions are written.
    plan.error = unsafe { prepare(plan).and_then(|()| exec(plan)) }
        .err()
        .unwrap_or(libc::EIO);
    // SAFETY: leaves without running anything of the parent's.
    unsafe { libc::_exit(127) }
}

fn errno() -> Errno {
    // SAFETY: the spawner's own errno; the spawner is suspended.
    unsafe { *libc::__errno_location() }
}

fn check(result: c_long) -> Result<c_long, Errno> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// Prepares the child in libuv's order, so that Node reports the same first failure.
///
/// # Safety
/// Only in a cloned child.
unsafe fn prepare(plan: &mut ChildPlan) -> Result<(), Errno> {
    // SAFETY: async-signal-safe calls on values of the plan, whose pointers the parent keeps alive.
    unsafe {
        if let Some(needed) = plan.needed {
            unshare_table(needed)?;
        }
        if plan.group_fd >= 0 {
            // A failure is ignored: the tree is then found through /proc alone.
            libc::write(plan.group_fd, c"0".as_ptr().cast(), 1);
        }
        if plan.detached {
            libc::setsid();
        }
        let count = plan.far_ends.len() as c_int;
        move_up(&mut plan.folder, count)?;
        move_up(&mut plan.program, count)?;
        place_descriptors(plan.far_ends)?;
        if plan.folder >= 0 {
            check(libc::fchdir(plan.folder).into())?;
        } else if !plan.cwd.is_null() {
            check(libc::chdir(plan.cwd).into())?;
        }
        if plan.uid.is_some() || plan.gid.is_some() {
            // Fails unless we are root; otherwise there is nothing to drop.
            libc::syscall(libc::SYS_setgroups, 0, ptr::null::<libc::gid_t>());
        }
        if let Some(gid) = plan.gid {
            check(libc::syscall(libc::SYS_setgid, gid))?;
        }
        if let Some(uid) = plan.uid {
            check(libc::syscall(libc::SYS_setuid, uid))?;
        }
        if let Some(nice) = plan.nice {
            libc::setpriority(libc::PRIO_PROCESS, 0, nice);
        }
        reset_signals();
        if let Some(parent) = plan.parent {
            // A change of user clears the setting, so it follows the change. A parent that has died since the clone has sent
            // nothing.
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())?;
            if libc::getppid() != parent {
                libc::_exit(127);
            }
        }
    }
    Ok(())
}

/// Moves from the parent's table to one of our own that holds only the needed descriptors. A copy of all the rest would keep
/// alive until exec what the parent closes meanwhile: a port it listens on, a file it writes.
///
/// # Safety
/// Only in a cloned child that shares its parent's table.
unsafe fn unshare_table(needed: &[RawFd]) -> Result<(), Errno> {
    let mut last = libc::c_uint::MAX;
    let mut flags = libc::CLOSE_RANGE_UNSHARE;
    for &fd in needed.iter().rev().chain(&[2]) {
        let first = fd as libc::c_uint + 1;
        if first <= last {
            // SAFETY: no memory is passed. The first range ends where the table does, so the kernel copies only what is
            // below it; the others are closed in the copy.
            check(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) })?;
            flags = 0;
        }
        last = fd as libc::c_uint - 1;
    }
    Ok(())
}

/// Moves a descriptor to a number that no stdio entry needs.
///
/// # Safety
/// Only in a cloned child, whose descriptor table is its own.
unsafe fn move_up(fd: &mut RawFd, count: c_int) -> Result<(), Errno> {
    if (0..count).contains(fd) {
        // SAFETY: no memory is passed.
        *fd = check(unsafe { libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, count) }.into())? as RawFd;
    }
    Ok(())
}

/// # Safety
/// Only in a cloned child, whose descriptor table is its own.
unsafe fn place_descriptors(far_ends: &mut [RawFd]) -> Result<(), Errno> {
    let count = far_ends.len() as c_int;
    // SAFETY: descriptor calls; no memory but a constant path is passed.
    unsafe {
        // Low numbers move out of the way first: swapping 1 and 2 would lose one of them.
        for (target, source) in far_ends.iter_mut().enumerate() {
            if *source >= 0 && *source < target as c_int {
                *source =
                    check(libc::fcntl(*source, libc::F_DUPFD_CLOEXEC, count).into())? as c_int;
            }
        }
        for (target, source) in far_ends.iter().enumerate() {
            let target = target as c_int;
            let mut source = *source;
            let ignored = source < 0;
            if ignored {
                if target >= 3 {
                    continue;
                }
                let mode = if target == 0 {
                    libc::O_RDONLY
                } else {
                    libc::O_RDWR
                };
                source = check(libc::open(c"/dev/null".as_ptr(), mode | libc::O_CLOEXEC).into())?
                    as c_int;
            }
            if source == target {
                check(libc::fcntl(target, libc::F_SETFD, 0).into())?;
            } else {
                check(libc::dup2(source, target).into())?;
            }
            if target <= 2 && !ignored {
                let flags = check(libc::fcntl(target, libc::F_GETFL).into())? as c_int;
                if flags & libc::O_NONBLOCK != 0 {
                    libc::fcntl(target, libc::F_SETFL, flags & !libc::O_NONBLOCK);
                }
            }
        }
    }
    Ok(())
}

/// Restores the default handlers (Node ignores SIGPIPE, and ignoring survives exec), then unblocks every signal.
///
/// # Safety
/// Only in a cloned child, whose signal handlers are its own.
unsafe fn reset_signals() {
    // SAFETY: zeroed structures mean SIG_DFL and the empty set; the kernel copies them.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        for signal in 1..32 {
            if signal != libc::SIGKILL && signal != libc::SIGSTOP {
                libc::sigaction(signal, &default, ptr::null_mut());
            }
        }
        let none: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
    }
}

/// Executes like glibc's execvpe. Returns only if no candidate could be started.
///
/// # Safety
/// Only in a cloned child.
unsafe fn exec(plan: &mut ChildPlan) -> Result<(), Errno> {
    let mut denied = false;
    let mut last = libc::ENOENT;
    let mut retries = MAX_RETRIES;
    let mut next = 0;
    while let Some(&path) = plan.candidates.get(next) {
        next += 1;
        // SAFETY: the tables are null-terminated and their strings are alive in the suspended parent.
        unsafe {
            libc::execve(path, plan.argv, plan.envp);
            if errno() == libc::ENOEXEC {
                // The second slot is kept free for the script's path.
                *plan.shell_argv.add(1) = path;
                libc::execve(*plan.shell_argv, plan.shell_argv, plan.envp);
            }
        }
        last = errno();
        match last {
            libc::EACCES => denied = true,
            libc::ENOENT | libc::ESTALE | libc::ENOTDIR | libc::ENODEV | libc::ETIMEDOUT => {}
            libc::ETXTBSY if retries > 0 => {
                retries -= 1;
                next -= 1;
                // SAFETY: as this function.
                unsafe { pause() };
            }
            _ => return Err(last),
        }
    }
    if denied {
        return Err(libc::EACCES);
    }
    if last == libc::ENOENT && plan.program >= 0 {
        // SAFETY: as this function.
        unsafe { exec_held(plan) };
    }
    Err(last)
}

/// Retries of ETXTBSY: until it execs, another child of this process may hold a freshly written file open for writing. Node has
/// waited for its own child by then (golang/go#22315 describes the same).
const MAX_RETRIES: u32 = 20;
const PAUSE_NANOS: c_long = 1_000_000;

/// # Safety
/// Only in a cloned child.
unsafe fn pause() {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: PAUSE_NANOS,
    };
    // SAFETY: the raw call, because libc's is a cancellation point; `time` outlives it.
    unsafe {
        libc::syscall(
            libc::SYS_nanosleep,
            &time,
            ptr::null_mut::<libc::timespec>(),
        )
    };
}

/// Executes the held file: the program has been moved or removed since the call.
///
/// # Safety
/// Only in a cloned child.
unsafe fn exec_held(plan: &ChildPlan) {
    let exec = || {
        // SAFETY: as in `exec`.
        unsafe {
            libc::syscall(
                libc::SYS_execveat,
                plan.program,
                c"".as_ptr(),
                plan.argv,
                plan.envp,
                libc::AT_EMPTY_PATH,
            )
        }
    };
    exec();
    if errno() == libc::ENOENT {
        // A script's interpreter reopens it, by its descriptor.
        // SAFETY: no memory is passed.
        unsafe { libc::fcntl(plan.program, libc::F_SETFD, 0) };
        exec();
    }
}
