//! Sends responses that are complete while JavaScript goes on.
//!
//! Responses leave when a batch's part is over, or before the loop sleeps. A handler that keeps the thread busy for long, and
//! work behind a response, would hold them back until then: a thread looks once a millisecond whether any wait, and sends
//! them. It sleeps while nothing is answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http_engine::{Engine, Outstanding};

use crate::lock::lock;

const TICK: Duration = Duration::from_millis(1);
/// After so many ticks without a flush it sleeps until the next response wakes it. A server with 64 busy connections flushes about
/// once a tick, and would wake it for each batch: a futex call of the owner's for 34 requests, and two switches on its core.
const IDLE_TICKS: u32 = 4;

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
    let mut idle_ticks = 0;
    while !is_over.load(Ordering::Acquire) {
        thread::park_timeout(TICK);
        let mut now = outstanding.look();
        let is_idle = now.flushes == last.flushes;
        idle_ticks = if is_idle { idle_ticks + 1 } else { 0 };
        if now.waits() && last.waits() && is_idle {
            lock(engine).flush_beside();
        } else if !now.waits() && idle_ticks >= IDLE_TICKS {
            rest(&outstanding, is_over);
            now = outstanding.look();
            idle_ticks = 0;
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
