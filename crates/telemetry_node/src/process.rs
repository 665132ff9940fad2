//! The engine of the process, and the thread that reads its rings.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use telemetry_engine::{Engine, Now, Settings, Sleep};
use telemetry_ring::{Reader, SleepWord};

/// State that all environments share. It stays until the process ends: the thread keeps the library loaded.
pub(crate) struct Process {
    pub engine: Engine,
    thread: Thread,
    /// The word that the thread sleeps on, or is about to.
    sleeps_on: Option<SleepWord>,
}

static PROCESS: Mutex<Option<Process>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Process>> {
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the engine and starts its thread, unless another environment has.
pub(crate) fn join(settings: Settings) -> std::io::Result<()> {
    let mut process = lock();
    if process.is_none() {
        let engine = Engine::new(settings, now());
        // The thread waits for the lock until the process has it.
        let thread = thread::Builder::new()
            .name("redline-telemetry".into())
            .stack_size(256 * 1024)
            .spawn(run)?;
        *process = Some(Process {
            engine,
            thread: thread.thread().clone(),
            sleeps_on: None,
        });
    }
    Ok(())
}

/// Calls `act` with the engine, which exists since the first [`join`]. No JavaScript runs meanwhile on this thread.
pub(crate) fn with<T: Default>(act: impl FnOnce(&mut Engine) -> T) -> T {
    let mut process = lock();
    let engine = process.as_mut().map(|process| &mut process.engine);
    engine.map(act).unwrap_or_default()
}

/// Adds the rings of an engine, and wakes the thread, which may sleep until there is one.
pub(crate) fn add_source(engine: Option<Reader>, own: Reader) -> u32 {
    let mut process = lock();
    let Some(process) = process.as_mut() else {
        return 0;
    };
    let number = process.engine.add_source(engine, own);
    process.wake();
    number
}

/// Wakes the thread.
pub(crate) fn wake() {
    if let Some(process) = lock().as_mut() {
        process.wake();
    }
}

impl Process {
    fn wake(&mut self) {
        // A thread that is about to sleep sees the words that change here.
        self.engine.stay_awake();
        match self.sleeps_on.take() {
            Some(word) => word.wake(),
            None => self.thread.unpark(),
        }
    }

    fn turn(&mut self) -> Sleep {
        self.engine.stay_awake();
        self.engine.drain(now());
        let sleep = self.engine.fall_asleep();
        self.sleeps_on = match sleep {
            Sleep::On(word, _) => Some(word),
            Sleep::No | Sleep::UntilSource => None,
        };
        sleep
    }
}

fn run() {
    loop {
        let sleep = lock().as_mut().map(Process::turn);
        match sleep {
            Some(Sleep::No) => thread::yield_now(),
            Some(Sleep::On(word, duration)) => word.sleep(duration),
            Some(Sleep::UntilSource) | None => thread::park(),
        }
    }
}

/// Reads CLOCK_MONOTONIC, which all writers use, and the time of day.
pub(crate) fn now() -> Now {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time lives through the call, which fills it.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Now {
        monotonic: Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        epoch: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default(),
    }
}
