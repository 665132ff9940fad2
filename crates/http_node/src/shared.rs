//! State shared by a port and the callbacks of its loop, and its teardown.

use std::sync::{Arc, Mutex};

use http_engine::Engine;
use napi::sys;
use node_loop::{Callback, EnvironmentData, Handle, HeldArray};

use crate::busy_poll::BusyPoll;
use crate::delivery::Part;
use crate::io_thread::IoThread;
use crate::lock::lock;
use crate::loop_handles::LoopHandles;
use crate::memory::HeldMemory;
use crate::sender::Sender;

/// State of the loop's callbacks. Lives from the constructor to the teardown of the environment.
pub(crate) struct Shared {
    pub env: sys::napi_env,
    pub callback: Callback,
    pub handles: Option<LoopHandles>,
    pub engine: Option<Arc<Mutex<Engine>>>,
    pub thread: Option<IoThread>,
    /// Started by the first response.
    pub sender: Option<Sender>,
    /// The part of the batch that JavaScript has not read.
    pub part: Option<Part>,
    /// Tracks whether the client of a lone connection is near.
    pub busy_poll: BusyPoll,
    pub memory: Option<HeldMemory>,
    /// The memory of the ring that the engine writes.
    pub ring: Option<HeldArray>,
    /// Servers that keep the loop alive by themselves.
    pub referenced_servers: u32,
}

impl Shared {
    /// References the loop while connections need it, as sockets do, and while referenced servers exist. Undelivered records
    /// reference it too, such as the end of the last connection and of its server, whose callbacks would otherwise never run.
    pub fn update_reference(&mut self) {
        let engine = self.engine.as_ref();
        let is_held = engine.is_some_and(|engine| lock(engine).holds_loop());
        self.set_held(is_held);
    }

    /// Like [`Shared::update_reference`], for callers that know whether the engine holds the loop.
    pub fn set_held(&mut self, is_held: bool) {
        let referenced = is_held || self.part.is_some() || self.referenced_servers > 0;
        if let Some(handles) = &mut self.handles {
            handles.set_referenced(referenced);
        }
    }

    /// Returns true if the engine has a thread of its own.
    pub fn has_thread(&self) -> bool {
        self.thread.is_some()
    }
}

impl EnvironmentData for Shared {
    fn release_handles(&mut self) -> Vec<Handle> {
        if let Some(thread) = self.thread.take() {
            thread.stop();
        }
        if let Some(sender) = self.sender.take() {
            sender.stop();
        }
        self.handles.take().map_or(Vec::new(), Into::into)
    }

    // The engine ends after libuv has released its descriptor, and before the memory that it writes to.
    fn destroy(&mut self) {
        if let Some(engine) = self.engine.take() {
            lock(&engine).flush();
        }
        // SAFETY: the environment's thread; the engine has been dropped, and nothing else calls back.
        unsafe {
            if let Some(memory) = self.memory.take() {
                memory.release(self.env);
            }
            if let Some(ring) = self.ring.take() {
                ring.release(self.env);
            }
            self.callback.delete();
        }
    }
}
