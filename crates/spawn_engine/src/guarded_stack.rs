//! The stack a child runs on between clone and exec.

use std::ptr;

use crate::sys::{Errno, errno};

const USABLE: usize = 64 * 1024;

/// A stack with an inaccessible page below it: an overflow faults instead of writing into the parent's heap, which
/// the child shares until exec.
pub(crate) struct GuardedStack {
    base: *mut libc::c_void,
    /// One page of this kernel: with a smaller size, `mprotect` would make a whole page inaccessible, which is 64 KiB on some
    /// arm64.
    guard: usize,
}

// SAFETY: the mapping belongs to the value and to no thread.
unsafe impl Send for GuardedStack {}

impl GuardedStack {
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: no memory is passed.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Self::above(usize::try_from(page).map_err(|_| libc::EINVAL)?)
    }

    /// Creates a stack above a guard, whose size is a multiple of the page size.
    fn above(guard: usize) -> Result<Self, Errno> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: a fresh anonymous mapping touches no existing memory.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                guard + USABLE,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(errno());
        }
        let stack = Self { base, guard };
        // SAFETY: the first page of the mapping just made, which nothing uses.
        if unsafe { libc::mprotect(base, guard, libc::PROT_NONE) } < 0 {
            return Err(errno());
        }
        Ok(stack)
    }

    /// Returns the start of a downward stack; aligned, because the mapping is.
    pub fn top(&self) -> *mut libc::c_void {
        // SAFETY: one past the end of the mapping.
        unsafe { self.base.byte_add(self.guard + USABLE) }
    }
}

impl Drop for GuardedStack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no child runs on it: clone returns only after exec or exit.
        unsafe { libc::munmap(self.base, self.guard + USABLE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the writable bytes below `top`, from the mapping that the kernel lists above the inaccessible one.
    fn usable(stack: &GuardedStack) -> usize {
        let top = stack.top() as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut usable = 0;
        for line in maps.lines() {
            let (range, rest) = line.split_once(' ').unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let start = usize::from_str_radix(start, 16).unwrap();
            let end = usize::from_str_radix(end, 16).unwrap();
            if start < top && top <= end && rest.starts_with("rw") {
                usable = top - start;
            }
        }
        usable
    }

    #[test]
    fn the_whole_stack_is_usable_whatever_a_page_is() {
        for page in [GuardedStack::new().unwrap().guard, 64 * 1024] {
            let stack = GuardedStack::above(page).unwrap();
            assert!(usable(&stack) >= USABLE, "{} of {page}", usable(&stack));
        }
        // SAFETY: no memory is passed.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        assert_eq!(GuardedStack::new().unwrap().guard as i64, page);
    }
}
