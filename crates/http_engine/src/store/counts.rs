//! Counts of requests and of the outcomes of responses, for the owner.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::wire::answer_count;

pub(crate) struct Counts([AtomicU64; answer_count::WORDS]);

impl Default for Counts {
    fn default() -> Self {
        Self(array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Counts {
    pub fn add(&self, count: usize, number: usize) {
        self.0[count].fetch_add(number as u64, Ordering::Relaxed);
    }

    pub fn add_outcome(&self, outcome: u32) {
        self.add(answer_count::OUTCOMES + outcome as usize, 1);
    }

    pub fn all(&self, count: usize, bytes: usize, max_bytes: usize) -> Vec<u64> {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut all: Vec<_> = self.0.iter().map(load).collect();
        all[answer_count::ANSWERS] = count as u64;
        all[answer_count::BYTES] = bytes as u64;
        all[answer_count::MAX_BYTES] = max_bytes as u64;
        all
    }
}
