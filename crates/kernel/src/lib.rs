//! Kernel helpers shared by both engines: error numbers of calls, and epoll.
#![cfg(target_os = "linux")]

mod epoll;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use libc::c_int;

pub use epoll::Epoll;

/// A positive error number, as in `errno.h`.
pub type Errno = i32;

/// The calling thread's last error.
#[must_use]
pub fn errno() -> Errno {
    io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}

/// Returns the result of a system call, or its error.
///
/// # Errors
/// The thread's last error, when `result` is negative.
pub fn check(result: c_int) -> Result<c_int, Errno> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// Takes ownership of the descriptor that a system call has just created.
///
/// # Safety
/// `result` is the return value of such a call: nothing else owns the descriptor.
///
/// # Errors
/// The thread's last error, when `result` is negative.
pub unsafe fn opened(result: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: forwarded.
    check(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}
