//! Tickets: who makes an answer notes the time before it reads anything, and what was dropped since then voids the ticket.
//!
//! The time is a number that every drop moves on. When a name was dropped last stands in a fixed table by the hash of the name:
//! two names may share a place, which costs a miss and never gives a stale answer.

use std::sync::atomic::{AtomicU64, Ordering};

/// The time of the last drop, of all stores of the process: a ticket is good for any of them.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// Places of the table; a power of two.
const PLACES: usize = 4096;

/// Taken before anything an answer is made of is read.
#[must_use]
pub fn ticket() -> u64 {
    CLOCK.load(Ordering::SeqCst)
}

fn next() -> u64 {
    CLOCK.fetch_add(1, Ordering::SeqCst) + 1
}

pub(crate) struct Drops {
    /// When everything was dropped.
    all: u64,
    /// When a name of that place was.
    names: Box<[u64]>,
}

impl Default for Drops {
    fn default() -> Self {
        Self {
            // Of what was dropped before it was there a store knows nothing.
            all: next(),
            names: vec![0; PLACES].into(),
        }
    }
}

impl Drops {
    pub fn note(&mut self, names: &[u64]) {
        let now = next();
        for name in names {
            self.names[place(*name)] = now;
        }
    }

    pub fn note_all(&mut self) {
        self.all = next();
    }

    /// Whether everything, or one of the names, was dropped since the ticket was taken.
    pub fn is_void(&self, ticket: u64, names: &[u64]) -> bool {
        self.all > ticket || names.iter().any(|name| self.names[place(*name)] > ticket)
    }
}

fn place(name: u64) -> usize {
    name as usize & (PLACES - 1)
}
