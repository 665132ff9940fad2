//! Access to the words of a ring.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::wire::ring;

/// The words of a ring, valid for as long as this value: both sides promise it when they take the memory.
pub(crate) struct Words {
    first: *mut u32,
    /// Number of words of records less one: a mask of positions.
    mask: u32,
}

// SAFETY: the memory is shared between threads by design: each word is written by one side only, or atomically.
unsafe impl Send for Words {}

impl Words {
    /// Returns `None` unless the memory is a ring of this layout.
    ///
    /// # Safety
    /// `first` points to `length` words, aligned, valid while the result lives.
    pub unsafe fn of(first: *mut u32, length: usize) -> Option<Self> {
        let records = u32::try_from(length.checked_sub(ring::FIRST_RECORD)?).ok()?;
        if !records.is_power_of_two() || records < 1024 {
            return None;
        }
        let words = Self {
            first,
            mask: records - 1,
        };
        (words.atomic(ring::VERSION).load(Ordering::Acquire) == ring::LAYOUT).then_some(words)
    }

    /// Number of words of records.
    pub fn capacity(&self) -> u32 {
        self.mask + 1
    }

    /// A word before the records.
    pub fn atomic(&self, index: usize) -> &AtomicU32 {
        assert!(index < ring::FIRST_RECORD);
        // SAFETY: inside the memory; all sides access these words atomically.
        unsafe { AtomicU32::from_ptr(self.first.add(index)) }
    }

    /// The memory of `count` words of records from a position on.
    pub fn records(&self, position: u32, count: u32) -> *mut u32 {
        let at = position & self.mask;
        assert!(count <= self.capacity() - at);
        // SAFETY: inside the memory.
        unsafe { self.first.add(ring::FIRST_RECORD + at as usize) }
    }

    /// Number of words between a position and the end of the memory.
    pub fn until_end(&self, position: u32) -> u32 {
        self.capacity() - (position & self.mask)
    }
}
