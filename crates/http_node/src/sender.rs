//! Sends complete responses while JavaScript is still running.
//!
//! Responses leave when a part of a batch is over, or before the loop sleeps. A handler that keeps the thread busy for long, or
//! work after a response, would hold them back until then: a thread checks once a millisecond for waiting responses, and sends
//! them. It sleeps while no responses are written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http_engine::{Engine, Outstanding};

use crate::lock::lock;

const TICK: Duration = Duration::from_millis(1);
/// After this many ticks without a flush it sleeps until the next response wakes it. A server with 64 busy connections flushes
/// about once a tick, and would wake it for each batch: a futex call by the owner for 34 requests, and two switches on its core.
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
    let mut last = outstanding.snapshot();
    let mut idle_ticks = 0;
    while !is_over.load(Ordering::Acquire) {
        thread::park_timeout(TICK);
        let mut now = outstanding.snapshot();
        let is_idle = now.flushes == last.flushes;
        idle_ticks = if is_idle { idle_ticks + 1 } else { 0 };
        if now.needs_flush() && last.needs_flush() && is_idle {
            lock(engine).flush_concurrently();
        } else if !now.needs_flush() && idle_ticks >= IDLE_TICKS {
            sleep_until_write(&outstanding, is_over);
            now = outstanding.snapshot();
            idle_ticks = 0;
        }
        last = now;
    }
}

/// Sleeps until the owner has written something, or the thread must end.
fn sleep_until_write(outstanding: &Outstanding, is_over: &AtomicBool) {
    outstanding.set_unwatched(true);
    // Checked again: the owner may have written before it saw the flag, and the tick may have consumed the wake for the end.
    if !outstanding.snapshot().needs_flush() && !is_over.load(Ordering::Acquire) {
        thread::park();
    }
    outstanding.set_unwatched(false);
}
