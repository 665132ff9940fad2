//! The stack a child runs on between clone and exec.

use std::ptr;

use crate::sys::{Errno, errno};

const USABLE: usize = 64 * 1024;
const GUARD: usize = 4096;

/// A stack with an inaccessible page below it: an overflow faults instead of writing into the parent's heap, which
/// the child shares until exec.
pub(crate) struct GuardedStack(*mut libc::c_void);

// SAFETY: the mapping belongs to the value and to no thread.
unsafe impl Send for GuardedStack {}

impl GuardedStack {
    pub fn new() -> Result<Self, Errno> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: a fresh anonymous mapping touches no existing memory.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                GUARD + USABLE,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(errno());
        }
        let stack = Self(base);
        // SAFETY: the first page of the mapping just made, which nothing uses.
        if unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } < 0 {
            return Err(errno());
        }
        Ok(stack)
    }

    /// Where a downward stack starts; aligned, because the mapping is.
    pub fn top(&self) -> *mut libc::c_void {
        // SAFETY: one past the end of the mapping.
        unsafe { self.0.byte_add(GUARD + USABLE) }
    }
}

impl Drop for GuardedStack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no child runs on it: clone returns only after exec or exit.
        unsafe { libc::munmap(self.0, GUARD + USABLE) };
    }
}
