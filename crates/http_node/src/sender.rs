//! Sends responses that are complete while JavaScript goes on.
//!
//! Responses leave when a batch's part is over, or before the loop sleeps. A handler that keeps the thread busy for long, and
//! work behind a response, would hold them back until then: a thread looks once a millisecond whether any wait, and sends
//! them. It sleeps while little is answered: a response that comes alone costs two wakes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http_engine::{Engine, Outstanding};

use crate::lock::lock;

const TICK: Duration = Duration::from_millis(1);
/// With fewer flushes in a tick it costs less to sleep, and to be woken by the next response, than to look on.
const BUSY: u32 = 2;

pub(crate) struct Sender {
    is_over: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl Sender {
    pub fn start(engine: &Arc<Mutex<Engine>>) -> std::io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (shared, end) = (Arc::clone(engine), Arc::clone(&is_over));
        let handle = thread::Builder::new()
            .name("http-sender".into())
            .stack_size(64 * 1024)
            .spawn(move || run(&shared, &end))?;
        Ok(Self { is_over, handle })
    }

    pub fn wake(&self) {
        self.handle.thread().unpark();
    }

    /// Ends the thread, and waits for its end.
    pub fn stop(self) {
        self.is_over.store(true, Ordering::Release);
        self.wake();
        let _ = self.handle.join();
    }
}

fn run(engine: &Mutex<Engine>, is_over: &AtomicBool) {
    let outstanding = lock(engine).outstanding();
    outstanding.set_unwatched(false);
    let mut last = outstanding.look();
    while !is_over.load(Ordering::Acquire) {
        thread::park_timeout(TICK);
        let mut now = outstanding.look();
        let flushes = now.flushes.wrapping_sub(last.flushes);
        if now.waits() && last.waits() && flushes == 0 {
            lock(engine).flush_beside();
        } else if !now.waits() && flushes < BUSY {
            rest(&outstanding, is_over);
            now = outstanding.look();
        }
        last = now;
    }
}

/// Sleeps until the owner has written something, or the end.
fn rest(outstanding: &Outstanding, is_over: &AtomicBool) {
    outstanding.set_unwatched(true);
    // What was written before the owner could see that is not missed; nor is the end, whose wake the tick may have taken.
    if !outstanding.look().waits() && !is_over.load(Ordering::Acquire) {
        thread::park();
    }
    outstanding.set_unwatched(false);
}
