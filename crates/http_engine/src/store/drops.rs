//! Tickets: a handler takes one before it reads any data for a response, and a drop of that data voids it.
//!
//! A ticket is the value of a clock that every drop advances. A table of fixed size holds the time at which each name was last
//! dropped, by the name's hash: two names may share a slot, which costs a miss and never lets a stale response in.

use std::sync::atomic::{AtomicU64, Ordering};

/// The clock of all stores of the process, so that a ticket is valid for any of them.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// Slots of the table; a power of two.
const SLOTS: usize = 4096;

/// Returns a ticket. Take it before reading any data of the response.
#[must_use]
pub fn ticket() -> u64 {
    CLOCK.load(Ordering::SeqCst)
}

fn next() -> u64 {
    CLOCK.fetch_add(1, Ordering::SeqCst) + 1
}

pub(crate) struct Drops {
    /// Time of the last drop of everything.
    all: u64,
    /// Time of the last drop of a name in each slot.
    names: Box<[u64]>,
}

impl Default for Drops {
    fn default() -> Self {
        Self {
            // A store does not know of drops before it existed: older tickets are void.
            all: next(),
            names: vec![0; SLOTS].into(),
        }
    }
}

impl Drops {
    pub fn record(&mut self, names: &[u64]) {
        let now = next();
        for name in names {
            self.names[slot_of(*name)] = now;
        }
    }

    pub fn record_all(&mut self) {
        self.all = next();
    }

    /// Returns true if everything, or one of the names, was dropped since the ticket was taken.
    pub fn is_void(&self, ticket: u64, names: &[u64]) -> bool {
        self.all > ticket || names.iter().any(|name| self.names[slot_of(*name)] > ticket)
    }
}

fn slot_of(name: u64) -> usize {
    name as usize & (SLOTS - 1)
}
