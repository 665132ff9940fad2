//! The engine's lock, held for a turn of the engine and never while JavaScript runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, even if a thread panicked while holding the lock.
pub(crate) fn lock<T>(engine: &Mutex<T>) -> MutexGuard<'_, T> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}
