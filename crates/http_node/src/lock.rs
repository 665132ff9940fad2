//! The engine's lock, held for a turn of the engine and never while JavaScript runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whatever happened to a thread that held the lock before.
pub(crate) fn lock<T>(engine: &Mutex<T>) -> MutexGuard<'_, T> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}
