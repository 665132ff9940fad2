//! The reader of a ring.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::memory::Words;
use crate::wake::SleepWord;
use crate::wire::{first, kind, ring, time};

/// The one reader of a ring.
pub struct Reader {
    words: Words,
    /// True after a record that no writer can have written: nothing more is read.
    is_broken: bool,
}

/// A record, as long as the reader has not moved on.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// One of [`kind`].
    pub kind: u32,
    words: &'a [u32],
}

impl<'a> Record<'a> {
    /// A word; 0 after the end.
    #[must_use]
    pub fn word(&self, index: usize) -> u32 {
        self.words.get(index).copied().unwrap_or(0)
    }

    /// A time: seconds and nanoseconds.
    #[must_use]
    pub fn time(&self, index: usize) -> Duration {
        let nanos = (self.word(index + 1) & !time::IS_EPOCH).min(999_999_999);
        Duration::new(self.word(index).into(), nanos)
    }

    /// True if a time counts from 1970, false if it is one of CLOCK_MONOTONIC.
    #[must_use]
    pub fn is_epoch(&self, index: usize) -> bool {
        self.word(index + 1) & time::IS_EPOCH != 0
    }

    /// All words, the first included.
    #[must_use]
    pub fn words(&self) -> &'a [u32] {
        self.words
    }

    /// Bytes from a word on: fewer than `length` at the end of the record.
    #[must_use]
    pub fn bytes(&self, index: usize, length: usize) -> &'a [u8] {
        let words = self.words.get(index..).unwrap_or_default();
        let length = length.min(size_of_val(words));
        // SAFETY: inside the slice, whose lifetime it has; bytes need no alignment.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), length) }
    }
}

impl Reader {
    /// Returns `None` unless the memory is a ring of this layout.
    ///
    /// # Safety
    /// `memory` points to `length` aligned words that are valid while the reader lives, and nothing else reads the ring.
    #[must_use]
    pub unsafe fn new(memory: *mut u32, length: usize) -> Option<Self> {
        // SAFETY: forwarded.
        let words = unsafe { Words::of(memory, length)? };
        Some(Self {
            words,
            is_broken: false,
        })
    }

    /// The seed of the ids of its requests.
    #[must_use]
    pub fn seed(&self) -> [u32; 6] {
        std::array::from_fn(|index| {
            self.words
                .atomic(ring::SEED + index)
                .load(Ordering::Relaxed)
        })
    }

    /// Number of records that did not fit since the last call.
    pub fn take_lost(&mut self) -> u32 {
        self.words.atomic(ring::LOST).swap(0, Ordering::Relaxed)
    }

    /// The position up to which records can be read now.
    #[must_use]
    pub fn written(&self) -> u32 {
        self.words.atomic(ring::WRITTEN).load(Ordering::Acquire)
    }

    /// Reads the records up to a position of [`Reader::written`], and makes room for others.
    pub fn read_until(&mut self, written: u32, mut act: impl FnMut(Record<'_>)) {
        let mut at = self.words.atomic(ring::TAKEN).load(Ordering::Relaxed);
        while at != written && !self.is_broken {
            let left = written.wrapping_sub(at).min(self.words.until_end(at));
            // SAFETY: a word inside the memory, published by the writer.
            let start = unsafe { self.words.records(at, 1).read() };
            let length = start >> first::LENGTH_SHIFT;
            if length == 0 || length > left {
                self.is_broken = true;
                break;
            }
            let kind = start & first::KIND_MASK;
            if kind != kind::PAD {
                let record = self.words.records(at, length).cast_const();
                // SAFETY: published words, which the writer leaves alone until TAKEN has passed them.
                let words = unsafe { std::slice::from_raw_parts(record, length as usize) };
                act(Record { kind, words });
            }
            at = at.wrapping_add(length);
            self.words.atomic(ring::TAKEN).store(at, Ordering::Release);
        }
    }

    /// True if a writer has written what cannot be read: the ring is of no use any more.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Number of words that were written and not read.
    #[must_use]
    pub fn filled(&self) -> u32 {
        let taken = self.words.atomic(ring::TAKEN).load(Ordering::Relaxed);
        self.written().wrapping_sub(taken)
    }

    /// Number of words of records that the ring can hold.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.words.capacity()
    }

    /// Asks the writer to wake the reader when a quarter of the ring is filled. Returns the word to sleep on, or `None` if a
    /// quarter is filled already, and can be read.
    #[must_use]
    pub fn fall_asleep(&self) -> Option<SleepWord> {
        let word = self.words.atomic(ring::SLEEPS);
        word.store(1, Ordering::SeqCst);
        let is_due = self.filled() >= self.capacity() / 4 && !self.is_broken;
        (!is_due).then(|| SleepWord::of(word))
    }

    /// Tells the writer that the reader reads.
    pub fn stay_awake(&self) {
        self.words.atomic(ring::SLEEPS).store(0, Ordering::SeqCst);
    }
}
