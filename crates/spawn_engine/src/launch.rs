//! The parent's side of starting a program.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use libc::{c_int, c_void};

use crate::child_main::{ChildPlan, child_main};
use crate::command::{Command, Tables};
use crate::group::Group;
use crate::guarded_stack::GuardedStack;
use crate::measure::own_peak_kib;
use crate::reaper;
use crate::sys::{self, Errno, SignalMask, errno, lock};

/// The child borrows our memory and suspends this thread until it execs or exits.
const FLAGS: c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;

pub(crate) struct Launched {
    pub pid: i32,
    pub pidfd: OwnedFd,
    /// Our own memory peak at the start, which hides a smaller one of the child, see [`crate::Usage`]; 0 unless requested.
    pub floor_kib: u64,
}

/// Returns the descriptors that every child inherits besides its own: this process was started with them, and Node has left them
/// inheritable. `None` if a child cannot drop the others.
fn inherited() -> Option<&'static [RawFd]> {
    static INHERITED: OnceLock<Option<Vec<RawFd>>> = OnceLock::new();
    INHERITED
        .get_or_init(|| sys::can_unshare_table().then(sys::inheritable))
        .as_deref()
}

/// Returns the descriptors a child needs before exec, in order.
fn needed(far_ends: &[RawFd], others: &[RawFd], inherited: &[RawFd]) -> Vec<RawFd> {
    let mut needed = [far_ends, others, inherited].concat();
    needed.retain(|&fd| fd > 2);
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// Checks that [`launch`] works here, with a child that ends at once. An emulator of another processor refuses its flags, or
/// copies the memory that the child has to share.
pub(crate) fn can_launch() -> Result<(), Errno> {
    extern "C" fn main(has_run: *mut c_void) -> c_int {
        // SAFETY: the parent passes a `bool` of its own and is suspended until this process exits.
        unsafe { *has_run.cast::<bool>() = true };
        0
    }
    let _blocked = SignalMask::block_all();
    let stack = GuardedStack::new()?;
    let mut has_run = false;
    let mut pidfd: RawFd = -1;
    let shared = (&raw mut has_run).cast();
    // SAFETY: the child runs on a stack of its own and CLONE_VFORK suspends this thread, so `has_run` outlives the child's use
    // of it; `pidfd` is where CLONE_PIDFD writes.
    let pid = unsafe { libc::clone(main, stack.top(), FLAGS, shared, &raw mut pidfd) };
    if pid < 0 {
        return Err(errno());
    }
    if pidfd < 0 {
        return Err(libc::ENOSYS);
    }
    // SAFETY: the kernel created this descriptor for us.
    let _ = sys::reap(&unsafe { OwnedFd::from_raw_fd(pidfd) }, true);
    // SAFETY: ours, and written before clone returned.
    if unsafe { ptr::read_volatile(&has_run) } {
        Ok(())
    } else {
        Err(libc::ENOSYS)
    }
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
    let raw = |fd: &Option<Arc<OwnedFd>>| fd.as_ref().map_or(-1, |fd| fd.as_raw_fd());
    let (folder, program) = (raw(&command.found.folder), raw(&command.found.program));
    let group = command.tree.as_deref().and_then(Group::create);
    let held = group.and_then(|group| group.membership_file());
    let group_fd = held.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let needed =
        inherited().map(|inherited| needed(&far_ends, &[folder, program, group_fd], inherited));
    // A child that becomes another user makes the memory it borrows, ours, undumpable: such starts run one at a time, and restore
    // the setting afterwards.
    let dumpable = (request.uid.is_some() || request.gid.is_some()).then(Dumpable::keep);
    let mut plan = ChildPlan {
        argv: tables.argv.as_ptr(),
        envp: request.env.table().as_ptr(),
        shell_argv: tables.shell_argv.as_mut_ptr(),
        candidates: &tables.candidates,
        cwd: request
            .cwd
            .as_ref()
            .map_or(ptr::null(), |cwd| cwd.as_ptr().cast()),
        far_ends: &mut far_ends,
        needed: needed.as_deref(),
        folder,
        program,
        detached: request.detached,
        uid: request.uid,
        gid: request.gid,
        nice: (command.nice != sys::niceness(0)).then_some(command.nice),
        group_fd,
        parent: request
            .extras
            .dies_with_parent
            .then(|| std::process::id().cast_signed()),
        error: 0,
    };
    let plan = &raw mut plan;
    let mut pidfd: RawFd = -1;
    let mut flags = FLAGS;
    if needed.is_some() {
        flags |= libc::CLONE_FILES;
    }
    // SAFETY: the child runs on a stack of its own and CLONE_VFORK suspends this thread, so everything `plan` borrows
    // outlives the child's use of it; `pidfd` is where CLONE_PIDFD writes.
    let clone = || unsafe {
        let pid = libc::clone(child_main, stack.top(), flags, plan.cast(), &raw mut pidfd);
        (pid, if pid < 0 { errno() } else { 0 })
    };
    let (pid, error) = reaper::record_launch(clone);
    if error != 0 {
        return Err(error);
    }
    // SAFETY: the kernel created this descriptor for us.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    drop(dumpable);
    // SAFETY: the child has execed or exited, so `plan` is ours alone again.
    match unsafe { (*plan).error } {
        0 => Ok(Launched {
            pid,
            pidfd,
            floor_kib: if request.extras.usage {
                own_peak_kib()
            } else {
                0
            },
        }),
        error => {
            let _ = sys::reap(&pidfd, true);
            Err(error)
        }
    }
}

/// Keeps this process's dumpable setting (core dumps, tracing by its user), and restores it when dropped.
struct Dumpable {
    was: c_int,
    _alone: MutexGuard<'static, ()>,
}

impl Dumpable {
    fn keep() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = lock(&ALONE);
        // SAFETY: no memory is passed.
        let was = unsafe { libc::prctl(libc::PR_GET_DUMPABLE) };
        Self { was, _alone: alone }
    }
}

impl Drop for Dumpable {
    fn drop(&mut self) {
        if self.was == 1 {
            // SAFETY: no memory is passed.
            unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_needed_descriptors_come_in_order_and_once() {
        assert_eq!(needed(&[9, -1, 2, 7], &[-1, 9], &[5]), [5, 7, 9]);
    }
}
