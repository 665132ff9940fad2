//! A word on which the reader sleeps.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Sleeps until a writer sets `word` to 0, or the time is over.
pub(crate) fn sleep(word: &AtomicU32, duration: Duration) {
    word.store(1, Ordering::SeqCst);
    wait(word, duration);
    word.store(0, Ordering::SeqCst);
}

/// Wakes the reader if it sleeps.
pub(crate) fn wake(word: &AtomicU32) {
    if word.swap(0, Ordering::SeqCst) != 0 {
        notify(word);
    }
}

#[cfg(target_os = "linux")]
fn wait(word: &AtomicU32, duration: Duration) {
    let timeout = libc::timespec {
        tv_sec: duration.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    };
    let flags = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: word and timeout live through the call. An early return makes the reader look once more.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), flags, 1_u32, &raw const timeout);
    }
}

#[cfg(target_os = "linux")]
fn notify(word: &AtomicU32) {
    let flags = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word lives through the call.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), flags, 1_u32);
    }
}

#[cfg(not(target_os = "linux"))]
fn wait(word: &AtomicU32, duration: Duration) {
    const STEP: Duration = Duration::from_millis(10);
    let end = std::time::Instant::now() + duration;
    while word.load(Ordering::SeqCst) == 1 && std::time::Instant::now() < end {
        std::thread::sleep(STEP.min(duration));
    }
}

#[cfg(not(target_os = "linux"))]
fn notify(_word: &AtomicU32) {}
