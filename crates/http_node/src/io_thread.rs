//! The engine on a thread of its own: it reads, parses, keeps time and sends kept responses while JavaScript is busy.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use http_engine::Engine;

use crate::lock::lock;

pub(crate) struct IoThread {
    engine: Arc<Mutex<Engine>>,
    is_over: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl IoThread {
    /// Starts the thread. `wake` wakes JavaScript's loop.
    pub fn start(
        engine: &Arc<Mutex<Engine>>,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let descriptor = lock(engine).descriptor();
        let (shared, end) = (Arc::clone(engine), Arc::clone(&is_over));
        let handle = thread::Builder::new()
            .name("http-engine".into())
            .stack_size(256 * 1024)
            .spawn(move || run(&shared, descriptor, &end, wake))?;
        Ok(Self {
            engine: Arc::clone(engine),
            is_over,
            handle,
        })
    }

    /// Ends the thread, and waits for its end.
    pub fn stop(self) {
        self.request_stop(&lock(&self.engine));
        let _ = self.handle.join();
    }

    fn request_stop(&self, engine: &Engine) {
        self.is_over.store(true, Ordering::Release);
        engine.request_turn();
    }
}

fn run(engine: &Mutex<Engine>, descriptor: RawFd, is_over: &AtomicBool, wake: impl Fn()) {
    let mut was_held = false;
    loop {
        Engine::wait(descriptor);
        let mut engine = lock(engine);
        // Checked under the lock: the poll clears a notification of the end while this thread waits for the lock.
        if is_over.load(Ordering::Acquire) {
            return;
        }
        // JavaScript's loop counts the turns, not this thread.
        let polled = engine.poll_share(1);
        if polled.words > 0 {
            engine.offer_batch(polled.words);
        }
        // Connections keep JavaScript's loop alive, so it must be woken for the first that does and for the last.
        let is_held = engine.holds_loop();
        if polled.words > 0 || is_held != was_held || engine.has_early_ends() {
            wake();
        }
        was_held = is_held;
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use http_engine::Memory;

    use super::*;

    fn engine() -> Engine {
        let words = || (vec![0_u32; 1024].leak().as_mut_ptr(), 1024);
        let bytes = || (vec![0_u8; 1024].leak().as_mut_ptr(), 1024);
        let memory = Memory {
            records: words(),
            input: bytes(),
            commands: words(),
            output: (bytes().0.cast_const(), 1024),
            pending: words(),
        };
        // SAFETY: the memory is never freed.
        unsafe { Engine::new(memory) }.expect("an engine")
    }

    #[test]
    fn a_thread_that_is_about_to_poll_hears_of_its_end() {
        let shared = Arc::new(Mutex::new(engine()));
        let thread = IoThread::start(&shared, || {}).expect("a thread");
        let engine = lock(&shared);
        engine.request_turn();
        // The thread wakes up, and waits for the lock.
        thread::sleep(Duration::from_millis(50));
        thread.request_stop(&engine);
        drop(engine);
        let start = Instant::now();
        while !thread.handle.is_finished() {
            assert!(start.elapsed() < Duration::from_secs(20), "it waits on");
            thread::sleep(Duration::from_millis(1));
        }
    }
}
