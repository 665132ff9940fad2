//! The writer of a ring.

use std::sync::atomic::Ordering;

use crate::memory::Words;
use crate::wake;
use crate::wire::{first, kind, ring};

/// The one writer of a ring.
pub struct Writer {
    words: Words,
}

impl Writer {
    /// Returns `None` unless the memory is a ring of this layout.
    ///
    /// # Safety
    /// `memory` points to `length` aligned words that are valid while the writer lives, and nothing else writes records to it.
    #[must_use]
    pub unsafe fn new(memory: *mut u32, length: usize) -> Option<Self> {
        // SAFETY: forwarded.
        let words = unsafe { Words::of(memory, length)? };
        Some(Self { words })
    }

    /// The facts that the ring's maker wants: one of [`crate::wire::level`].
    #[must_use]
    pub fn level(&self) -> u32 {
        self.words.atomic(ring::LEVEL).load(Ordering::Relaxed)
    }

    /// Writes a record: the words after its first, and then the bytes, padded to words. Returns false, and counts it as lost, if it
    /// does not fit.
    pub fn put(&mut self, kind: u32, words: &[u32], bytes: &[&[u8]]) -> bool {
        let byte_count: usize = bytes.iter().map(|part| part.len()).sum();
        let length = 1 + words.len() + byte_count.div_ceil(4);
        let Some(at) = self.room(length) else {
            self.words
                .atomic(ring::LOST)
                .fetch_add(1, Ordering::Relaxed);
            return false;
        };
        let length = length as u32;
        let record = self.words.records(at, length);
        // SAFETY: `length` words inside the memory, which the reader does not touch until they are published below.
        unsafe {
            record.write(kind | length << first::LENGTH_SHIFT);
            std::ptr::copy_nonoverlapping(words.as_ptr(), record.add(1), words.len());
            let mut to = record.add(1 + words.len()).cast::<u8>();
            for part in bytes {
                std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
                to = to.add(part.len());
            }
        }
        self.publish(at.wrapping_add(length));
        true
    }

    /// Returns the position of a record of so many words, which does not cross the end of the memory.
    fn room(&mut self, length: usize) -> Option<u32> {
        let capacity = self.words.capacity();
        let length = u32::try_from(length)
            .ok()
            .filter(|length| *length <= capacity / 4)?;
        let written = self.words.atomic(ring::WRITTEN).load(Ordering::Relaxed);
        let taken = self.words.atomic(ring::TAKEN).load(Ordering::Acquire);
        let free = capacity - written.wrapping_sub(taken);
        let until_end = self.words.until_end(written);
        if length <= until_end {
            return (length <= free).then_some(written);
        }
        if until_end + length > free {
            return None;
        }
        let pad = self.words.records(written, until_end);
        // SAFETY: a word inside the memory; it is published with the record after it.
        unsafe { pad.write(kind::PAD | until_end << first::LENGTH_SHIFT) };
        Some(written.wrapping_add(until_end))
    }

    fn publish(&mut self, written: u32) {
        self.words
            .atomic(ring::WRITTEN)
            .store(written, Ordering::Release);
        let taken = self.words.atomic(ring::TAKEN).load(Ordering::Relaxed);
        if written.wrapping_sub(taken) >= self.words.capacity() / 4 {
            wake::wake(self.words.atomic(ring::SLEEPS));
        }
    }
}
