//! The engine's turn in the loop: poll, tell, send.

use std::ffi::{c_int, c_void};

use crate::delivery::deliver;
use crate::loop_handles::LoopHandles;
use crate::port::Shared;

/// Batches in one turn, so that other handles of the loop get theirs.
const BATCHES: u32 = 8;

pub(crate) unsafe extern "C" fn on_ready(handle: *mut c_void, _status: c_int, _events: c_int) {
    // SAFETY: the handle's data is the `Shared` that opened it, which outlives the handle. No reference to it is held
    // while JavaScript runs.
    unsafe {
        let shared: *mut Shared = LoopHandles::data(handle);
        for _ in 0..BATCHES {
            let polled = match &mut (*shared).engine {
                Some(engine) => {
                    engine.flush();
                    engine.poll()
                }
                None => return,
            };
            if polled.words > 0 {
                tell(shared, polled.words);
            }
            let Some(engine) = &mut (*shared).engine else {
                return;
            };
            if !polled.more && !engine.has_late_news() {
                (*shared).update_reference();
                return;
            }
        }
        if let Some(engine) = &(*shared).engine {
            engine.ring();
        }
        (*shared).update_reference();
    }
}

pub(crate) unsafe extern "C" fn on_prepare(handle: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let shared: *mut Shared = LoopHandles::data(handle);
        let words = match &mut (*shared).engine {
            Some(engine) => {
                engine.flush();
                engine.begin_late_batch()
            }
            None => return,
        };
        if words > 0 {
            tell(shared, words);
        }
        if (*shared).engine.is_some() {
            (*shared).update_reference();
        }
    }
}

/// # Safety
/// As `deliver`; `shared` is alive.
unsafe fn tell(shared: *mut Shared, words: usize) {
    // SAFETY: forwarded.
    unsafe {
        if let Some(engine) = &mut (*shared).engine {
            engine.lock_batch();
        }
        deliver((*shared).env, (*shared).callback, words);
        // A callback may have ended the environment.
        if let Some(engine) = &mut (*shared).engine {
            engine.flush();
            engine.unlock_batch();
        }
    }
}
