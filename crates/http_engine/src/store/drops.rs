//! Tickets: whoever makes an answer takes one before reading any data, and a drop of that data voids it.
//!
//! A ticket is the value of a clock that every drop advances. A table of fixed size holds the time at which each name was last
//! dropped, by the name's hash: two names may share a slot, which costs a miss and never lets a stale answer in.

use std::sync::atomic::{AtomicU64, Ordering};

/// The clock of all stores of the process, so that a ticket is valid for any of them.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// Slots of the table; a power of two.
const PLACES: usize = 4096;

/// Take it before reading any data the answer is made of.
#[must_use]
pub fn ticket() -> u64 {
    CLOCK.load(Ordering::SeqCst)
}

fn next() -> u64 {
    CLOCK.fetch_add(1, Ordering::SeqCst) + 1
}

pub(crate) struct Drops {
    /// When everything was last dropped.
    all: u64,
    /// When a name in this slot was last dropped.
    names: Box<[u64]>,
}

impl Default for Drops {
    fn default() -> Self {
        Self {
            // A store does not know what was dropped before it existed: older tickets are void.
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
