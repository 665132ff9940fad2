//! What a port and the callbacks of its loop share, and its end.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http_engine::Engine;
use napi::sys;

use crate::io_thread::IoThread;
use crate::lone::Lone;
use crate::loop_handles::LoopHandles;
use crate::memory::HeldMemory;
use crate::sender::Sender;
use crate::turn::Part;

/// What the loop's callbacks need. Lives from the constructor to the end of the environment.
pub(crate) struct Shared {
    pub env: sys::napi_env,
    pub callback: sys::napi_ref,
    pub hook: sys::napi_async_cleanup_hook_handle,
    pub handles: Option<LoopHandles>,
    pub engine: Option<Arc<Mutex<Engine>>>,
    pub thread: Option<IoThread>,
    /// Started by the first answer.
    pub sender: Option<Sender>,
    /// What JavaScript has not read of the batch.
    pub part: Option<Part>,
    /// Whether the client of a single connection is near.
    pub lone: Lone,
    pub memory: Option<HeldMemory>,
    /// Servers that keep the loop alive by themselves.
    pub referenced_servers: u32,
}

impl Shared {
    /// Connections keep the loop alive, as sockets do, and so do servers that were not unreferenced.
    pub fn update_reference(&mut self) {
        let busy = self
            .engine
            .as_ref()
            .is_some_and(|engine| lock(engine).connection_count() > 0);
        let referenced = busy || self.referenced_servers > 0;
        if let Some(handles) = &mut self.handles {
            handles.set_referenced(referenced);
        }
    }

    /// Whether the engine has a thread of its own.
    pub fn has_thread(&self) -> bool {
        self.thread.is_some()
    }
}

/// Locks, whatever happened to a thread that held the lock before.
pub(crate) fn lock(engine: &Mutex<Engine>) -> MutexGuard<'_, Engine> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The environment ends.
///
/// # Safety
/// Called once, on the environment's thread, with the `Shared` of one of its ports.
pub(crate) unsafe extern "C" fn on_cleanup(
    _hook: sys::napi_async_cleanup_hook_handle,
    shared: *mut c_void,
) {
    let shared: *mut Shared = shared.cast();
    // SAFETY: runs once, on the environment's thread, while `shared` is alive. The engine goes before the memory that it
    // writes to, and libuv lets go of the engine's descriptor before it is closed.
    unsafe {
        if let Some(thread) = (*shared).thread.take() {
            thread.stop();
        }
        if let Some(sender) = (*shared).sender.take() {
            sender.stop();
        }
        if let Some(handles) = (*shared).handles.take() {
            handles.close();
        }
        if let Some(engine) = (*shared).engine.take() {
            lock(&engine).flush();
        }
        if let Some(memory) = (*shared).memory.take() {
            memory.release((*shared).env);
        }
        sys::napi_delete_reference((*shared).env, (*shared).callback);
    }
}

/// libuv is done with the handles.
///
/// # Safety
/// Called once, with the `Shared` they were opened with.
pub(crate) unsafe fn on_closed(shared: *mut c_void) {
    // SAFETY: `shared` stays allocated (some bytes per environment) when JavaScript's wrapper outlives it, because that
    // wrapper still points at it.
    unsafe { sys::napi_remove_async_cleanup_hook((*shared.cast::<Shared>()).hook) };
}
