//! The engine's place in libuv's loop: one handle that wakes the loop and, while referenced, keeps it alive, and one that runs
//! just before the loop would sleep. The first polls the engine's descriptor or, if the engine has a thread, is woken by it.

use std::ffi::c_int;

use napi::sys;
use node_loop::{Handle, OnHandle, OnPoll, Waker};

/// The source of the loop's wake-ups.
pub(crate) enum Source {
    /// The engine's descriptor is readable.
    Descriptor(c_int, OnPoll),
    /// The engine's thread signals it.
    Thread(OnHandle),
}

pub(crate) struct LoopHandles {
    waking: Handle,
    prepare: Handle,
}

impl LoopHandles {
    /// Opens handles that do not keep the loop alive.
    ///
    /// # Safety
    /// `env` is the current environment, and this is its thread. `data` and the descriptor live until the handles are closed.
    pub unsafe fn open<T>(
        env: sys::napi_env,
        source: Source,
        data: *mut T,
        on_prepare: OnHandle,
    ) -> Option<Self> {
        // SAFETY: forwarded.
        unsafe {
            let waking = match source {
                Source::Descriptor(fd, on_ready) => Handle::open_poll(env, fd, data, on_ready),
                Source::Thread(on_wake) => Handle::open_async(env, data, on_wake),
            };
            Some(Self {
                waking: waking?,
                prepare: Handle::open_prepare(env, data, on_prepare)?,
            })
        }
    }

    /// Returns the waker for the thread that wakes the loop. Only with [`Source::Thread`].
    pub fn waker(&self) -> Waker {
        self.waking.waker()
    }

    pub fn set_referenced(&mut self, is_referenced: bool) {
        self.waking.set_referenced(is_referenced);
    }
}

impl From<LoopHandles> for Vec<Handle> {
    fn from(LoopHandles { waking, prepare }: LoopHandles) -> Self {
        vec![waking, prepare]
    }
}
