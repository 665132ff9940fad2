//! An environment's part in the engine, until it ends.

use napi::sys;
use node_loop::{EnvironmentData, Handle};

use crate::process;
use crate::rings::HeldRing;

/// The sources of a collector.
pub(crate) struct Environment {
    pub env: sys::napi_env,
    pub sources: Vec<(u32, Vec<HeldRing>)>,
}

impl Environment {
    /// Removes a source from the engine, and then releases its memory.
    pub fn remove(&mut self, number: u32) {
        let Some(index) = self.sources.iter().position(|(each, _)| *each == number) else {
            return;
        };
        let (_, rings) = self.sources.swap_remove(index);
        process::with(|engine| engine.remove_source(number));
        for ring in rings {
            // SAFETY: this is the environment's thread, and the engine has dropped the readers under its lock.
            unsafe { ring.release(self.env) };
        }
    }
}

impl EnvironmentData for Environment {
    fn release_handles(&mut self) -> Vec<Handle> {
        Vec::new()
    }

    fn destroy(&mut self) {
        while let Some((number, _)) = self.sources.last() {
            self.remove(*number);
        }
    }
}
