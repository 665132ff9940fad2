//! What both engines use of the kernel in the same way: the error numbers of calls, and epoll.
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

/// What a system call returned, or its error.
///
/// # Errors
/// The thread's last one, when `result` is negative.
pub fn check(result: c_int) -> Result<c_int, Errno> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// The descriptor that a system call has just created, or its error.
///
/// # Safety
/// `result` is what such a call returned: nothing else owns the descriptor.
///
/// # Errors
/// The thread's last one, when `result` is negative.
pub unsafe fn opened(result: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: forwarded.
    check(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}
