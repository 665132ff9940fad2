//! Reused memory for reading output.
//!
//! JavaScript holds a chunk of output until V8 collects it, long after it was read. Fresh memory for every chunk would cost more
//! in page faults than the reading itself.

use std::sync::Mutex;

use crate::sys::lock;

/// Max bytes per read.
pub(crate) const BLOCK: usize = 256 * 1024;
/// Max blocks in the pool: roughly the number that a busy server drops between two collections of V8.
const MAX_FREE: usize = 64;

struct Pool {
    free: Vec<Vec<u8>>,
    /// True while blocks are in demand, and worth keeping.
    is_open: bool,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    free: Vec::new(),
    is_open: false,
});

/// Returns an empty vector with room for [`BLOCK`] bytes.
pub(crate) fn take() -> Vec<u8> {
    let mut pool = lock(&POOL);
    pool.is_open = true;
    let kept = pool.free.pop();
    drop(pool);
    kept.unwrap_or_else(|| Vec::with_capacity(BLOCK))
}

/// Takes back the bytes of an event; the memory may serve another one.
pub fn recycle(mut bytes: Vec<u8>) {
    if bytes.capacity() != BLOCK {
        return;
    }
    bytes.clear();
    let mut pool = lock(&POOL);
    if pool.is_open && pool.free.len() < MAX_FREE {
        pool.free.push(bytes);
    }
}

/// Frees the pool, and keeps nothing until the next [`take`].
pub(crate) fn close() {
    let mut pool = lock(&POOL);
    pool.is_open = false;
    let free = std::mem::take(&mut pool.free);
    drop(pool);
    drop(free);
}

pub(crate) fn is_open() -> bool {
    lock(&POOL).is_open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_blocks_come_back_and_they_come_back_empty() {
        let mut bytes = take();
        bytes.extend_from_slice(b"output");
        recycle(bytes);
        recycle(vec![1; 10]);
        let again = take();
        assert!(again.is_empty() && again.capacity() == BLOCK);
    }
}
