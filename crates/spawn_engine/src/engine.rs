//! The threads and the children of this process: one engine, whatever the number of ports.

use std::sync::OnceLock;
use std::thread;

use crate::children::Children;
use crate::guarded_stack::GuardedStack;
use crate::launch;
use crate::reactor;
use crate::spawner::Spawner;
use crate::sys::{self, Errno};

/// Two keep a core each in the kernel; more only wait for the same memory map.
const SPAWNERS: usize = 2;

pub(crate) struct Engine {
    pub children: Children,
    pub spawner: Spawner,
    process: u32,
}

static ENGINE: OnceLock<Result<Engine, Errno>> = OnceLock::new();

/// Whether this kernel and this process can run the engine, which is started by asking.
///
/// # Errors
/// ENOSYS on a kernel that cannot signal pidfds and wait for them, what clone says where a child cannot share our memory, or what
/// kept the threads from starting.
pub fn supported() -> Result<(), Errno> {
    Engine::get().map(drop)
}

impl Engine {
    pub fn get() -> Result<&'static Self, Errno> {
        static STARTED: OnceLock<Result<(), Errno>> = OnceLock::new();
        let engine = ENGINE
            .get_or_init(Self::new)
            .as_ref()
            .map_err(|error| *error)?;
        (*STARTED.get_or_init(|| engine.start())).map(|()| engine)
    }

    fn new() -> Result<Self, Errno> {
        if !sys::can_use_pidfds() {
            return Err(libc::ENOSYS);
        }
        launch::can_launch()?;
        Ok(Self {
            children: Children::new()?,
            spawner: Spawner::default(),
            process: std::process::id(),
        })
    }

    fn start(&'static self) -> Result<(), Errno> {
        let failed = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EAGAIN);
        for number in 0..SPAWNERS {
            let stack = GuardedStack::new()?;
            thread::Builder::new()
                .name(format!("spawner-{number}"))
                .stack_size(256 * 1024)
                .spawn(move || self.spawner.run(&self.children, &stack))
                .map_err(failed)?;
        }
        thread::Builder::new()
            .name("spawn-reactor".into())
            .stack_size(256 * 1024)
            .spawn(|| reactor::run(&self.children))
            .map_err(failed)?;
        // SAFETY: `at_exit` takes nothing and this library is never unloaded while its threads run.
        unsafe { libc::atexit(at_exit) };
        Ok(())
    }
}

/// `spawn(detached).unref(); process.exit()` must still start the child.
extern "C" fn at_exit() {
    if let Some(Ok(engine)) = ENGINE.get() {
        // A forked copy has the handler but not the threads.
        if engine.process == std::process::id() {
            engine.spawner.flush(None);
        }
    }
}
