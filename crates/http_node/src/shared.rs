//! What a port and the callbacks of its loop share, and its end.

use std::sync::{Arc, Mutex};

use http_engine::Engine;
use napi::sys;
use node_loop::{Callback, Handle, Resident};

use crate::delivery::Part;
use crate::io_thread::IoThread;
use crate::lock::lock;
use crate::lone::Lone;
use crate::loop_handles::LoopHandles;
use crate::memory::HeldMemory;
use crate::sender::Sender;

/// What the loop's callbacks need. Lives from the constructor to the end of the environment.
pub(crate) struct Shared {
    pub env: sys::napi_env,
    pub callback: Callback,
    pub handles: Option<LoopHandles>,
    pub engine: Option<Arc<Mutex<Engine>>>,
    pub thread: Option<IoThread>,
    /// Started by the first answer.
    pub sender: Option<Sender>,
    /// What JavaScript has not read of the batch.
    pub part: Option<Part>,
    /// Whether the client of a lone connection is near.
    pub lone: Lone,
    pub memory: Option<HeldMemory>,
    /// Servers that keep the loop alive by themselves.
    pub referenced_servers: u32,
}

impl Shared {
    /// Connections keep the loop alive, as sockets do, and so do servers that were not unreferenced. So does what JavaScript has not
    /// heard yet: the end of the last connection, and of its server, whose callbacks would never run.
    pub fn update_reference(&mut self) {
        let engine = self.engine.as_ref();
        let is_held = engine.is_some_and(|engine| lock(engine).holds_loop());
        self.set_held(is_held);
    }

    /// As [`Shared::update_reference`], where it is known whether the engine holds the loop.
    pub fn set_held(&mut self, is_held: bool) {
        let referenced = is_held || self.part.is_some() || self.referenced_servers > 0;
        if let Some(handles) = &mut self.handles {
            handles.set_referenced(referenced);
        }
    }

    /// Whether the engine has a thread of its own.
    pub fn has_thread(&self) -> bool {
        self.thread.is_some()
    }
}

impl Resident for Shared {
    fn leave(&mut self) -> Vec<Handle> {
        if let Some(thread) = self.thread.take() {
            thread.stop();
        }
        if let Some(sender) = self.sender.take() {
            sender.stop();
        }
        self.handles.take().map_or(Vec::new(), Into::into)
    }

    // The engine ends after libuv has released its descriptor, and before the memory that it writes to.
    fn end(&mut self) {
        if let Some(engine) = self.engine.take() {
            lock(&engine).flush();
        }
        // SAFETY: the environment's thread; the engine is gone, and with it what calls back.
        unsafe {
            if let Some(memory) = self.memory.take() {
                memory.release(self.env);
            }
            self.callback.delete();
        }
    }
}
