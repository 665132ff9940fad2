//! The engine's few system calls, as functions that return `Result`.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Instant;

pub use kernel::Errno;
pub(crate) use kernel::{Epoll, errno};
use kernel::{check, opened};
use libc::c_int;

/// Creates a connected pair: our end does not block, the child's does.
pub(crate) fn socket_pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    let mut fds = [-1; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: `fds` has room for the two descriptors the call writes.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()) })?;
    // SAFETY: the kernel has just created both.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

/// Buffer for written bytes, in bytes, equal to that of libuv's pipes: callers rely on it to know when to wait.
const BUFFER: c_int = 64 * 1024;

pub(crate) fn limit_sending(fd: &OwnedFd) {
    buffer_sending(fd, BUFFER);
}

/// Has a socket hold as many written bytes, up to the maximum of this machine.
pub(crate) fn buffer_sending(fd: &OwnedFd, size: c_int) {
    // SAFETY: the kernel reads `size`, which outlives the call. A socket that keeps its buffer works as well.
    unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDBUF,
            (&raw const size).cast(),
            size_of::<c_int>() as libc::socklen_t,
        );
    }
}

/// Returns a private copy of `fd` that no child inherits.
pub(crate) fn duplicate(fd: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: no memory is passed; a bad descriptor is reported as EBADF. The call creates the copy.
    unsafe { opened(libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3)) }
}

/// Appends up to `max` available bytes, without blocking; `Ok(0)` is the end. `into` must have the room.
pub(crate) fn receive(fd: &OwnedFd, into: &mut Vec<u8>, max: usize) -> Result<usize, Errno> {
    let room = into.spare_capacity_mut();
    let max = max.min(room.len());
    loop {
        // SAFETY: the kernel writes at most `max` bytes into spare capacity we hold exclusively.
        let read = unsafe {
            libc::recv(
                fd.as_raw_fd(),
                room.as_mut_ptr().cast(),
                max,
                libc::MSG_DONTWAIT,
            )
        };
        match read {
            0.. => {
                // SAFETY: the kernel has just written that many bytes after the old end.
                unsafe { into.set_len(into.len() + read as usize) };
                return Ok(read as usize);
            }
            _ if errno() == libc::EINTR => {}
            _ => return Err(errno()),
        }
    }
}

/// Returns true if a socket is empty and its far end closed.
pub(crate) fn is_at_end(fd: &OwnedFd) -> bool {
    let mut next = 0_u8;
    let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
    // SAFETY: the kernel writes at most one byte, into a local that outlives the call.
    unsafe { libc::recv(fd.as_raw_fd(), (&raw mut next).cast(), 1, flags) == 0 }
}

/// Returns true if the far end of a socket is closed, even if bytes remain to be read.
pub(crate) fn has_hung_up(fd: &OwnedFd) -> bool {
    let mut entry = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: 0,
        revents: 0,
    };
    // SAFETY: one entry, which outlives the call.
    unsafe { libc::poll(&mut entry, 1, 0) > 0 && entry.revents & libc::POLLHUP != 0 }
}

/// Writes as many bytes as possible without blocking. A closed reader is EPIPE, not a signal.
pub(crate) fn send(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        // SAFETY: the kernel reads at most `bytes.len()` bytes of a live slice.
        let written = unsafe {
            libc::send(
                fd.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
            )
        };
        match written {
            0.. => return Ok(written as usize),
            _ if errno() == libc::EINTR => {}
            _ => return Err(errno()),
        }
    }
}

/// Signals the end of data to the reader of a socket. The other direction stays open.
pub(crate) fn end_writing(fd: &OwnedFd) {
    // SAFETY: no memory is passed. A peer that is gone (ENOTCONN) need not be notified.
    unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) };
}

/// Shuts down both directions of a socket: its remaining bytes can be read, and then it is at its end, even if other processes
/// hold the far end.
pub fn hang_up(fd: RawFd) {
    // SAFETY: no memory is passed; a descriptor that is not a connected socket stays as it is.
    unsafe { libc::shutdown(fd, libc::SHUT_RDWR) };
}

/// Waits until one of `entries` is ready, a signal arrives, or `deadline` passes.
pub(crate) fn poll(entries: &mut [libc::pollfd], deadline: Option<Instant>) {
    let timeout_ms = deadline.map_or(-1, |end| {
        let left = end.saturating_duration_since(Instant::now());
        // Rounded up, so that the loop does not spin for the rest of the last millisecond.
        left.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as c_int
    });
    // SAFETY: the entries outlive the call. On an error the kernel has left them as they are, with nothing ready.
    unsafe {
        libc::poll(
            entries.as_mut_ptr(),
            entries.len() as libc::nfds_t,
            timeout_ms,
        )
    };
}

/// The status of an ended process: an exit code, or the signal that ended it (otherwise 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub code: i32,
    pub signal: i32,
}

/// Reaps the process of `pidfd`; `None` if it still runs and `block` is false.
pub(crate) fn reap(pidfd: &OwnedFd, block: bool) -> Result<Option<Status>, Errno> {
    reap_with(pidfd, block, None)
}

/// Reaps like [`reap`]; `usage` receives the resources that the process has used.
pub(crate) fn reap_with(
    pidfd: &OwnedFd,
    block: bool,
    mut usage: Option<&mut libc::rusage>,
) -> Result<Option<Status>, Errno> {
    let options = libc::WEXITED | if block { 0 } else { libc::WNOHANG };
    loop {
        // SAFETY: an all-zero `siginfo_t` is valid, and the call fills it or leaves it zero.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let kind = libc::P_PIDFD;
        let fd = pidfd.as_raw_fd();
        let result: libc::c_long = match usage.as_deref_mut() {
            // SAFETY: `info` outlives the call.
            None => unsafe { libc::waitid(kind, fd as libc::id_t, &mut info, options) }.into(),
            // SAFETY: the same, and `usage` does. The C library's function lacks the last argument.
            Some(usage) => unsafe {
                let usage = std::ptr::from_mut(usage);
                libc::syscall(libc::SYS_waitid, kind, fd, &raw mut info, options, usage)
            },
        };
        if result < 0 {
            match errno() {
                libc::EINTR => continue,
                error => return Err(error),
            }
        }
        // SAFETY: `waitid` filled `info` for a child event (or left si_pid zero), so these members are the live ones.
        let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
        if pid == 0 {
            return Ok(None);
        }
        return Ok(Some(if info.si_code == libc::CLD_EXITED {
            Status {
                code: status,
                signal: 0,
            }
        } else {
            Status {
                code: 0,
                signal: status,
            }
        }));
    }
}

/// Sends `signal` to exactly the process of `pidfd`, even if its number has been reused.
pub(crate) fn send_signal(pidfd: &OwnedFd, signal: i32) -> Result<(), Errno> {
    // SAFETY: a null siginfo requests the one that kill() would send.
    let result = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal,
            std::ptr::null::<libc::siginfo_t>(),
            0,
        )
    };
    if result < 0 { Err(errno()) } else { Ok(()) }
}

/// Returns true if a read of `fd` would not block; for a pidfd, if the process has ended.
pub fn is_readable(fd: RawFd) -> bool {
    let mut entry = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, which outlives the call.
    unsafe { libc::poll(&mut entry, 1, 0) > 0 }
}

/// Checks that a pidfd can be signalled and waited for (5.4; gVisor cannot, seccomp may forbid it): ENOSYS, or the error of a
/// missing descriptor.
pub(crate) fn can_use_pidfds() -> Result<(), Errno> {
    let pidfd = own_pidfd().map_err(|error| match error {
        libc::EMFILE | libc::ENFILE | libc::ENOMEM => error,
        _ => libc::ENOSYS,
    })?;
    // We are not our own child: ECHILD means that the kernel supports the call.
    if send_signal(&pidfd, 0).is_ok() && reap(&pidfd, false) == Err(libc::ECHILD) {
        Ok(())
    } else {
        Err(libc::ENOSYS)
    }
}

pub(crate) fn own_pidfd() -> Result<OwnedFd, Errno> {
    // SAFETY: no memory is passed, and the call creates the descriptor.
    unsafe { opened(libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) as RawFd) }
}

pub(crate) fn thread_id() -> i32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

/// Returns the nice value of one thread of this process.
pub(crate) fn niceness(thread: i32) -> i32 {
    // SAFETY: no memory is passed; glibc maps the kernel's answer to -20..=19.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, thread as libc::id_t) }
}

/// Holds the file at `path`, a NUL-terminated string, open without access to it; a relative path starts at `folder`.
pub(crate) fn open_path(
    folder: Option<RawFd>,
    path: &[u8],
    flags: c_int,
) -> Result<OwnedFd, Errno> {
    let path = std::ffi::CStr::from_bytes_until_nul(path).map_err(|_| libc::EINVAL)?;
    let folder = folder.unwrap_or(libc::AT_FDCWD);
    // SAFETY: the string outlives the call, which creates the descriptor.
    unsafe {
        opened(libc::openat(
            folder,
            path.as_ptr(),
            flags | libc::O_PATH | libc::O_CLOEXEC,
        ))
    }
}

/// Returns true for a regular file with an execute permission.
pub(crate) fn is_program(file: &libc::stat) -> bool {
    file.st_mode & libc::S_IFMT == libc::S_IFREG && file.st_mode & 0o111 != 0
}

pub(crate) fn status_of(file: &OwnedFd) -> Option<libc::stat> {
    // SAFETY: an all-zero `stat` is valid, and it outlives the call.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::fstat(file.as_raw_fd(), &mut stat) == 0).then_some(stat)
    }
}

/// Returns true if a thread can leave the shared descriptor table and keep only a part of it (5.9; seccomp may forbid it).
pub(crate) fn can_unshare_table() -> bool {
    std::thread::Builder::new()
        .stack_size(64 * 1024)
        .spawn(|| {
            // SAFETY: no memory is passed. The thread, which ends here, has a table of its own from then on.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_close_range,
                    libc::c_uint::MAX,
                    libc::c_uint::MAX,
                    libc::CLOSE_RANGE_UNSHARE,
                )
            };
            result == 0
        })
        .is_ok_and(|thread| thread.join().unwrap_or(false))
}

/// Returns the descriptors above 2 that survive an exec.
pub(crate) fn inheritable() -> Vec<RawFd> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&fd: &RawFd| {
            // SAFETY: no memory is passed.
            let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
            fd > 2 && flags >= 0 && flags & libc::FD_CLOEXEC == 0
        })
        .collect()
}

/// Returns the kind of file at `path`, as in `S_IFMT`.
pub(crate) fn file_kind(path: &std::ffi::CStr) -> Result<libc::mode_t, Errno> {
    // SAFETY: an all-zero `stat` is valid, and it outlives the call.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        check(libc::stat(path.as_ptr(), &mut stat))?;
        Ok(stat.st_mode & libc::S_IFMT)
    }
}

/// Blocks every signal in the calling thread, so that Node's own threads receive them.
pub(crate) fn block_signals() {
    // SAFETY: `set` is initialised by sigfillset before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut set);
        libc::pthread_sigmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
    }
}

/// Blocks every signal in the calling thread until it is dropped.
pub(crate) struct SignalMask(libc::sigset_t);

impl SignalMask {
    pub fn block_all() -> Self {
        // SAFETY: both sets are initialised before they are read, the old one by the call.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            Self(before)
        }
    }
}

impl Drop for SignalMask {
    fn drop(&mut self) {
        // SAFETY: the mask that the kernel returned before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

/// Locks, even if a thread panicked while holding the lock.
pub(crate) fn lock<T: ?Sized>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
