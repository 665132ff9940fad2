//! The engine on a thread of its own: it reads, parses, keeps time and gives kept answers while JavaScript is busy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use http_engine::Engine;

use crate::loop_handles::Waker;
use crate::shared::lock;

pub(crate) struct IoThread {
    engine: Arc<Mutex<Engine>>,
    is_over: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl IoThread {
    pub fn start(engine: &Arc<Mutex<Engine>>, waker: Waker) -> std::io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (shared, end) = (Arc::clone(engine), Arc::clone(&is_over));
        let handle = thread::Builder::new()
            .name("http-engine".into())
            .stack_size(256 * 1024)
            .spawn(move || run(&shared, &end, waker))?;
        Ok(Self {
            engine: Arc::clone(engine),
            is_over,
            handle,
        })
    }

    /// Ends the thread, and waits for its end.
    pub fn stop(self) {
        self.is_over.store(true, Ordering::Release);
        lock(&self.engine).ring();
        let _ = self.handle.join();
    }
}

fn run(engine: &Mutex<Engine>, is_over: &AtomicBool, waker: Waker) {
    let descriptor = lock(engine).descriptor();
    let mut had_connections = false;
    loop {
        Engine::wait(descriptor);
        if is_over.load(Ordering::Acquire) {
            return;
        }
        let mut engine = lock(engine);
        let polled = engine.poll();
        if polled.words > 0 {
            engine.offer_batch(polled.words);
        }
        // Connections keep the loop of JavaScript alive, so it has to know of the first and the last.
        let has_connections = engine.connection_count() > 0;
        if polled.words > 0 || has_connections != had_connections {
            waker.wake();
        }
        had_connections = has_connections;
    }
}
