//! The engine's turn in the loop: poll, tell, send.

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use node_loop::data_of;

use crate::delivery::{Part, deliver};
use crate::lock::lock;
use crate::shared::Shared;

/// Batches in one turn, so that other handles of the loop get theirs.
const BATCHES: u32 = 16;
/// Batches that are made of what few clients have sent at once. The responses of the first leave while the others are worked
/// on: with one batch the server would wait for its clients, and they for it, by turns.
const SHARES: usize = 4;
/// A turn that has read from fewer sockets asks the kernel once more before it gives the loop back: few clients have asked
/// again by then.
const FEW: usize = 16;
/// After this long a turn gives the loop back, whatever is left: its timers and other sockets have waited as long.
const TURN: Duration = Duration::from_millis(5);

/// The engine's descriptor is readable.
pub(crate) unsafe extern "C" fn on_ready(handle: *mut c_void, _status: c_int, _events: c_int) {
    // SAFETY: the handle's data is the `Shared` that opened it, which outlives the handle. No reference into it and no
    // lock is held while JavaScript runs.
    unsafe {
        let shared: *mut Shared = data_of(handle);
        let start = Instant::now();
        let mut received = 0;
        let mut is_lone = false;
        let mut batches = 0;
        let is_over = loop {
            if batches == BATCHES || start.elapsed() >= TURN {
                break false;
            }
            batches += 1;
            if (*shared).part.is_some() && !tell(shared, start) {
                break false;
            }
            let Some(engine) = &(*shared).engine else {
                return;
            };
            let polled = {
                let mut engine = lock(engine);
                engine.flush();
                let lone = match (is_lone, (*shared).lone.patience()) {
                    (true, Duration::ZERO) => None,
                    (true, patience) => engine.poll_lone(patience),
                    (false, _) => engine.poll_lone(Duration::ZERO),
                };
                if lone.is_none() && is_lone && !engine.has_late_news() {
                    (*shared).lone.ended();
                    break true;
                }
                if lone.is_some() && !is_lone {
                    (*shared).lone.came(start);
                }
                is_lone = lone.is_some();
                let polled = lone.unwrap_or_else(|| engine.poll_share(SHARES));
                if polled.words > 0 {
                    engine.lock_batch();
                }
                polled
            };
            if polled.words > 0 && !begin(shared, polled.words, start) {
                break false;
            }
            let Some(engine) = &(*shared).engine else {
                return;
            };
            received += polled.received;
            let is_last = polled.received == 0 || received >= FEW;
            if is_last && !polled.more && !lock(engine).has_late_news() {
                break true;
            }
        };
        if !is_over {
            come_again(shared);
        }
        (*shared).update_reference();
    }
}

/// The engine's thread has a batch, or the first connection, or lost the last.
pub(crate) unsafe extern "C" fn on_wake(handle: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let shared: *mut Shared = data_of(handle);
        let start = Instant::now();
        let words = match (&(*shared).engine, (*shared).part) {
            (Some(engine), None) => lock(engine).take_offer(),
            _ => 0,
        };
        let is_read = if words > 0 {
            begin(shared, words, start)
        } else {
            tell(shared, start)
        };
        if !is_read {
            come_again(shared);
        }
        (*shared).update_reference();
    }
}

/// The loop is about to sleep.
pub(crate) unsafe extern "C" fn on_prepare(handle: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let shared: *mut Shared = data_of(handle);
        let words = match &(*shared).engine {
            Some(engine) => {
                let mut engine = lock(engine);
                engine.flush();
                engine.begin_turn();
                let words = engine.begin_late_batch();
                if words > 0 {
                    engine.lock_batch();
                }
                words
            }
            None => return,
        };
        if words > 0 && !begin(shared, words, Instant::now()) {
            come_again(shared);
        }
        (*shared).update_reference();
    }
}

/// The turn is over before everything was reported: the rest comes in the loop's next. The bell of an engine with a thread wakes that
/// thread alone, which does nothing while the batch is locked.
///
/// # Safety
/// `shared` is alive.
unsafe fn come_again(shared: *mut Shared) {
    // SAFETY: forwarded.
    unsafe {
        if (*shared).has_thread() {
            if let Some(handles) = &(*shared).handles {
                handles.waker().wake();
            }
        } else if let Some(engine) = &(*shared).engine {
            lock(engine).ring();
        }
    }
}

/// Reports a locked batch to JavaScript; see [`tell`].
///
/// # Safety
/// As `tell`.
unsafe fn begin(shared: *mut Shared, words: usize, start: Instant) -> bool {
    // SAFETY: forwarded.
    unsafe {
        (*shared).part = Some(Part { from: 0, words });
        tell(shared, start)
    }
}

/// Reports to JavaScript what it has not read of the batch, part by part, and sends its responses behind each: ticks and
/// promises of some requests are not held up by the handlers of others. False when the turn that began at `start` is over
/// before the batch is.
///
/// # Safety
/// As `deliver`; `shared` is alive.
unsafe fn tell(shared: *mut Shared, start: Instant) -> bool {
    // SAFETY: forwarded.
    unsafe {
        while let Some(Part { from, words }) = (*shared).part {
            let from = deliver((*shared).callback, from, words);
            // A callback may have ended the environment.
            let Some(engine) = &(*shared).engine else {
                return true;
            };
            let mut engine = lock(engine);
            engine.flush();
            if from < words {
                (*shared).part = Some(Part { from, words });
                if start.elapsed() >= TURN {
                    return false;
                }
                continue;
            }
            (*shared).part = None;
            engine.unlock_batch();
            if engine.has_late_news() && (*shared).has_thread() {
                engine.ring();
            }
        }
        true
    }
}
