//! Descriptors that wake the thread of an engine: on request, and at a given time.

use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::sys::{Errno, opened};

/// A descriptor that is readable while a turn is requested.
pub(crate) struct EventFd(OwnedFd);

impl EventFd {
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: no memory is passed, and the call creates the descriptor.
        unsafe { opened(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)) }.map(Self)
    }

    pub fn fd(&self) -> &OwnedFd {
        &self.0
    }

    pub fn notify(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes of a live value are read.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    pub fn clear(&self) {
        let mut count = 0_u64;
        // SAFETY: eight bytes of a live value are written.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}

/// A descriptor that becomes readable at a given time.
pub(crate) struct TimerFd(OwnedFd);

impl TimerFd {
    pub fn new() -> Result<Self, Errno> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: as for the eventfd.
        unsafe { opened(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags)) }.map(Self)
    }

    pub fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// Sets the time to `at_ms` of [`crate::sys::now_ms`]; 0 means never.
    pub fn set(&self, at_ms: u64) {
        // SAFETY: an all-zero value is valid.
        let mut value: libc::itimerspec = unsafe { mem::zeroed() };
        value.it_value.tv_sec = (at_ms / 1000) as _;
        value.it_value.tv_nsec = (at_ms % 1000 * 1_000_000) as _;
        // SAFETY: `value` outlives the call.
        unsafe {
            libc::timerfd_settime(
                self.0.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &value,
                std::ptr::null_mut(),
            )
        };
    }
}
