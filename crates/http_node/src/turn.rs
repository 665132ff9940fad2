//! The engine's turn in the loop: poll, report, send.

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use node_loop::data_of;

use crate::delivery::{Part, deliver};
use crate::lock::lock;
use crate::shared::Shared;

/// Max batches per turn, so that other handles of the loop get theirs.
const MAX_BATCHES: u32 = 16;
/// Number of batches into which simultaneous requests of few clients are split. The responses of the first leave while the others
/// are being processed: with one batch the server and its clients would wait for each other by turns.
const SHARES: usize = 4;
/// A turn that has read from fewer sockets polls the kernel once more before it yields to the loop: few clients have sent their
/// next requests by then.
const MIN_BUSY_SOCKETS: usize = 16;
/// Max duration of a turn, even if records are left: the loop's timers and other sockets have waited as long.
const MAX_TURN: Duration = Duration::from_millis(5);

/// Runs when the engine's descriptor is readable.
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
            if batches == MAX_BATCHES || start.elapsed() >= MAX_TURN {
                break false;
            }
            batches += 1;
            if (*shared).part.is_some() && !report(shared, start) {
                break false;
            }
            let Some(engine) = &(*shared).engine else {
                return;
            };
            let polled = {
                let mut engine = lock(engine);
                engine.flush();
                let lone = match (is_lone, (*shared).busy_poll.duration()) {
                    (true, Duration::ZERO) => None,
                    (true, duration) => engine.poll_lone(duration),
                    (false, _) => engine.poll_lone(Duration::ZERO),
                };
                if lone.is_none() && is_lone && !engine.has_unreported() {
                    (*shared).busy_poll.on_miss();
                    break true;
                }
                if lone.is_some() && !is_lone {
                    (*shared).busy_poll.on_request(start);
                }
                is_lone = lone.is_some();
                let polled = lone.unwrap_or_else(|| engine.poll_share(SHARES));
                if polled.words > 0 {
                    engine.lock_batch();
                }
                polled
            };
            if polled.words > 0 && !report_batch(shared, polled.words, start) {
                break false;
            }
            let Some(engine) = &(*shared).engine else {
                return;
            };
            received += polled.received;
            let is_last = polled.received == 0 || received >= MIN_BUSY_SOCKETS;
            if is_last && !polled.more && !lock(engine).has_unreported() {
                break true;
            }
        };
        if !is_over {
            request_next_turn(shared);
        }
        (*shared).update_reference();
    }
}

/// Runs when the engine's thread has a batch or the first connection, or has lost the last.
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
            report_batch(shared, words, start)
        } else {
            report(shared, start)
        };
        if !is_read {
            request_next_turn(shared);
        }
        (*shared).update_reference();
    }
}

/// Runs when the loop is about to sleep.
pub(crate) unsafe extern "C" fn on_prepare(handle: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let shared: *mut Shared = data_of(handle);
        let words = match &(*shared).engine {
            Some(engine) => {
                let mut engine = lock(engine);
                engine.flush();
                engine.begin_turn();
                let words = engine.begin_unreported_batch();
                if words > 0 {
                    engine.lock_batch();
                }
                words
            }
            None => return,
        };
        if words > 0 && !report_batch(shared, words, Instant::now()) {
            request_next_turn(shared);
        }
        (*shared).update_reference();
    }
}

/// Schedules the rest of a turn that ended before everything was reported, for the loop's next. The wake-up of an engine
/// with a thread reaches only that thread, which does nothing while the batch is locked.
///
/// # Safety
/// `shared` is alive.
unsafe fn request_next_turn(shared: *mut Shared) {
    // SAFETY: forwarded.
    unsafe {
        if (*shared).has_thread() {
            if let Some(handles) = &(*shared).handles {
                handles.waker().wake();
            }
        } else if let Some(engine) = &(*shared).engine {
            lock(engine).request_turn();
        }
    }
}

/// Reports a locked batch to JavaScript; see [`report`].
///
/// # Safety
/// As `report`.
unsafe fn report_batch(shared: *mut Shared, words: usize, start: Instant) -> bool {
    // SAFETY: forwarded.
    unsafe {
        (*shared).part = Some(Part { from: 0, words });
        report(shared, start)
    }
}

/// Reports the unread part of the batch to JavaScript, part by part, and sends its responses after each: ticks and promises of
/// some requests are not held up by the handlers of others. Returns false if the turn that began at `start` is over before the
/// batch is.
///
/// # Safety
/// As `deliver`; `shared` is alive.
unsafe fn report(shared: *mut Shared, start: Instant) -> bool {
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
                if start.elapsed() >= MAX_TURN {
                    return false;
                }
                continue;
            }
            (*shared).part = None;
            engine.unlock_batch();
            if engine.has_unreported() && (*shared).has_thread() {
                engine.request_turn();
            }
        }
        true
    }
}
