//! The word on which a reader sleeps.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The word of a ring on which its reader sleeps. It is an address for the kernel alone: this process reads and writes the word
/// only through a ring, so the memory may end meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepWord(*const u32);

// SAFETY: the pointer is never dereferenced.
unsafe impl Send for SleepWord {}

impl SleepWord {
    pub(crate) fn of(word: &AtomicU32) -> Self {
        Self(word.as_ptr())
    }

    /// Sleeps until a writer or [`SleepWord::wake`] ends it, or the time is over; not at all if the word is not 1 any more.
    pub fn sleep(self, duration: Duration) {
        wait(self.0, duration);
    }

    /// Ends a sleep. The caller has set the word to 0 before: a reader that is about to sleep notices it.
    pub fn wake(self) {
        notify(self.0);
    }
}

/// Wakes the reader if it sleeps. A reader that falls asleep at this moment may be missed: the next record wakes it, or its time.
pub(crate) fn wake(word: &AtomicU32) {
    if word.load(Ordering::SeqCst) != 0 && word.swap(0, Ordering::SeqCst) != 0 {
        notify(word.as_ptr());
    }
}

#[cfg(target_os = "linux")]
fn wait(word: *const u32, duration: Duration) {
    let timeout = libc::timespec {
        tv_sec: duration.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    };
    let flags = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the kernel compares the word, and returns an error if no memory is there; the timeout lives through the call.
    unsafe {
        libc::syscall(libc::SYS_futex, word, flags, 1_u32, &raw const timeout);
    }
}

#[cfg(target_os = "linux")]
fn notify(word: *const u32) {
    let flags = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the kernel looks for sleepers by the address, and does not access the word.
    unsafe {
        libc::syscall(libc::SYS_futex, word, flags, 1_u32);
    }
}

#[cfg(not(target_os = "linux"))]
fn wait(_word: *const u32, duration: Duration) {
    std::thread::sleep(duration.min(Duration::from_millis(10)));
}

#[cfg(not(target_os = "linux"))]
fn notify(_word: *const u32) {}
