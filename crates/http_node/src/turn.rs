//! The engine's turn in the loop: poll, tell, send.

use std::ffi::{c_int, c_void};

use crate::delivery::deliver;
use crate::loop_handles::LoopHandles;
use crate::shared::{Shared, lock};

/// Batches in one turn, so that other handles of the loop get theirs.
const BATCHES: u32 = 16;
/// Batches that are made of what few clients have sent at once. The answers of the first leave while the others are worked
/// on: with one batch the server would wait for its clients, and they for it, by turns.
const SHARES: usize = 4;
/// A turn that has read from fewer sockets asks the kernel once more before it gives the loop back: few clients have asked
/// again by then.
const FEW: usize = 16;

/// The engine's descriptor is readable.
pub(crate) unsafe extern "C" fn on_ready(handle: *mut c_void, _status: c_int, _events: c_int) {
    // SAFETY: the handle's data is the `Shared` that opened it, which outlives the handle. No reference into it and no
    // lock is held while JavaScript runs.
    unsafe {
        let shared: *mut Shared = LoopHandles::data(handle);
        let mut received = 0;
        for _ in 0..BATCHES {
            let Some(engine) = &(*shared).engine else {
                return;
            };
            let polled = {
                let mut engine = lock(engine);
                engine.flush();
                let polled = engine.poll_share(SHARES);
                if polled.words > 0 {
                    engine.lock_batch();
                }
                polled
            };
            if polled.words > 0 {
                tell(shared, polled.words);
            }
            let Some(engine) = &(*shared).engine else {
                return;
            };
            received += polled.received;
            let is_over = polled.received == 0 || received >= FEW;
            if is_over && !polled.more && !lock(engine).has_late_news() {
                (*shared).update_reference();
                return;
            }
        }
        if let Some(engine) = &(*shared).engine {
            lock(engine).ring();
        }
        (*shared).update_reference();
    }
}

/// The engine's thread has a batch, or the first connection, or lost the last.
pub(crate) unsafe extern "C" fn on_wake(handle: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let shared: *mut Shared = LoopHandles::data(handle);
        let words = match &(*shared).engine {
            Some(engine) => lock(engine).take_offer(),
            None => return,
        };
        if words > 0 {
            tell(shared, words);
        }
        (*shared).update_reference();
    }
}

/// The loop is about to sleep.
pub(crate) unsafe extern "C" fn on_prepare(handle: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let shared: *mut Shared = LoopHandles::data(handle);
        let words = match &(*shared).engine {
            Some(engine) => {
                let mut engine = lock(engine);
                engine.flush();
                let words = engine.begin_late_batch();
                if words > 0 {
                    engine.lock_batch();
                }
                words
            }
            None => return,
        };
        if words > 0 {
            tell(shared, words);
        }
        (*shared).update_reference();
    }
}

/// Tells JavaScript of a locked batch, and sends what it answered.
///
/// # Safety
/// As `deliver`; `shared` is alive.
unsafe fn tell(shared: *mut Shared, words: usize) {
    // SAFETY: forwarded.
    unsafe {
        deliver((*shared).env, (*shared).callback, words);
        // A callback may have ended the environment.
        if let Some(engine) = &(*shared).engine {
            let mut engine = lock(engine);
            engine.flush();
            engine.unlock_batch();
            if engine.has_late_news() && (*shared).has_thread() {
                engine.ring();
            }
        }
    }
}
