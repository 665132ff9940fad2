//! One epoll instance.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use libc::c_int;

use crate::{Errno, check, opened};

/// An epoll instance. Its user assigns the tokens.
#[derive(Debug)]
pub struct Epoll(OwnedFd);

impl Epoll {
    /// Creates an instance that watches nothing.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: no memory is passed, and the call creates the descriptor.
        unsafe { opened(libc::epoll_create1(libc::EPOLL_CLOEXEC)) }.map(Self)
    }

    fn control(&self, operation: c_int, fd: RawFd, events: c_int, token: u64) -> Result<(), Errno> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: token,
        };
        // SAFETY: `event` outlives the call.
        check(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &mut event) }).map(drop)
    }

    /// Watches a descriptor.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add(&self, fd: &OwnedFd, events: c_int, token: u64) -> Result<(), Errno> {
        self.control(libc::EPOLL_CTL_ADD, fd.as_raw_fd(), events, token)
    }

    /// Changes the events a descriptor is watched for.
    pub fn change(&self, fd: &OwnedFd, events: c_int, token: u64) {
        let _ = self.control(libc::EPOLL_CTL_MOD, fd.as_raw_fd(), events, token);
    }

    /// Stops watching a descriptor. Must precede the close of a descriptor that a child may hold a copy of: a sibling between
    /// clone and exec does, which keeps the entry alive and delivers events under a number that means something else by then.
    pub fn remove(&self, fd: &OwnedFd) {
        let _ = self.control(libc::EPOLL_CTL_DEL, fd.as_raw_fd(), 0, 0);
    }

    /// Returns the ready events, waiting up to `timeout_ms`; -1 waits without limit.
    pub fn wait<'a>(
        &self,
        events: &'a mut [libc::epoll_event],
        timeout_ms: i32,
    ) -> &'a [libc::epoll_event] {
        // SAFETY: the kernel writes at most `events.len()` entries.
        let count = unsafe {
            libc::epoll_wait(
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                events.len() as c_int,
                timeout_ms,
            )
        };
        &events[..count.max(0) as usize]
    }
}

impl AsRawFd for Epoll {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
