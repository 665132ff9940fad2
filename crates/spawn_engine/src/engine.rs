//! The threads and the children of this process: one engine for any number of ports.

use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, OnceLock};
use std::thread::{self, JoinHandle};

use crate::children::Children;
use crate::group;
use crate::guarded_stack::GuardedStack;
use crate::killer::Killer;
use crate::launch;
use crate::reactor;
use crate::reaper;
use crate::spawner::Spawner;
use crate::sys::{self, Errno, lock};

/// Two threads keep one core each busy in the kernel; more would only wait for the same memory map.
const SPAWNERS: usize = 2;

pub(crate) struct Engine {
    pub children: Children,
    pub spawner: Spawner,
    pub killer: Killer,
    process: u32,
}

static ENGINE: OnceLock<&'static Engine> = OnceLock::new();

/// Returns `Ok` if this kernel and this process can run the engine, and starts it.
///
/// # Errors
/// ENOSYS on a kernel that cannot signal pidfds and wait for them, the error of clone if a child cannot share our memory, or the
/// error that kept the threads from starting.
pub fn supported() -> Result<(), Errno> {
    Engine::get().map(drop)
}

/// Starts reaping orphans if this process adopts them, as the first of its namespace or as a subreaper. Returns true if it does,
/// and can tell them from processes that other code waits for.
///
/// # Errors
/// The error number of a thread that cannot start.
pub fn reap_orphans() -> Result<bool, Errno> {
    Engine::get()?;
    reaper::start()
}

impl Engine {
    /// Returns the engine, started by the first caller. A start that fails leaves nothing allocated, and the next call tries
    /// again.
    pub fn get() -> Result<&'static Self, Errno> {
        static ALONE: Mutex<()> = Mutex::new(());
        if let Some(engine) = ENGINE.get() {
            return Ok(engine);
        }
        let _alone = lock(&ALONE);
        if let Some(engine) = ENGINE.get() {
            return Ok(engine);
        }
        let engine = Self::start()?;
        Ok(ENGINE.get_or_init(|| engine))
    }

    fn new() -> Result<Self, Errno> {
        sys::can_use_pidfds()?;
        launch::can_launch()?;
        Ok(Self {
            children: Children::new()?,
            spawner: Spawner::default(),
            killer: Killer::default(),
            process: std::process::id(),
        })
    }

    fn start() -> Result<&'static Self, Errno> {
        let engine = Self::new()?;
        let mut threads = Threads::default();
        for number in 0..SPAWNERS {
            let stack = GuardedStack::new()?;
            threads.add(format!("spawner-{number}"), move |engine| {
                engine.spawner.run(&engine.children, &stack);
            })?;
        }
        threads.add("spawn-reactor".into(), |engine| {
            reactor::run(&engine.children);
        })?;
        let engine: &'static Self = Box::leak(Box::new(engine));
        threads.run(engine);
        // SAFETY: `at_exit` takes nothing and this library is never unloaded while its threads run.
        unsafe { libc::atexit(at_exit) };
        Ok(engine)
    }
}

/// Threads that wait for their engine, and end if its start fails.
#[derive(Default)]
struct Threads(Vec<(Sender<&'static Engine>, JoinHandle<()>)>);

impl Threads {
    fn add(
        &mut self,
        name: String,
        body: impl FnOnce(&'static Engine) + Send + 'static,
    ) -> Result<(), Errno> {
        let (sender, engine) = mpsc::channel();
        let thread = thread::Builder::new()
            .name(name)
            .stack_size(256 * 1024)
            .spawn(move || {
                if let Ok(engine) = engine.recv() {
                    body(engine);
                }
            })
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EAGAIN))?;
        self.0.push((sender, thread));
        Ok(())
    }

    fn run(mut self, engine: &'static Engine) {
        for (sender, _) in self.0.drain(..) {
            let _ = sender.send(engine);
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for (sender, thread) in self.0.drain(..) {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// `spawn(detached).unref(); process.exit()` must still start the child.
extern "C" fn at_exit() {
    if let Some(engine) = ENGINE.get() {
        // A forked copy has the handler but not the threads.
        if engine.process == std::process::id() {
            engine.spawner.flush(None);
            engine.killer.flush();
            group::remove_leftover();
        }
    }
}
