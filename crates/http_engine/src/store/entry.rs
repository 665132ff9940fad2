//! An answer in the store: how long it may be sent, and whether it is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::tags::Names;
use super::{Fill, Given, Identity};

/// How long the request that was let through has to replace a stale answer, before the next one is let through.
const TURN_MS: u64 = 5_000;

/// What tables and the allocator take up beside the bytes of an answer, and for each of its names. `tests/store_memory.rs`
/// compares it with what is allocated.
const OVERHEAD: usize = 512;
const OVERHEAD_OF_NAME: usize = 128;

pub(crate) struct Entry {
    pub key: Arc<[u8]>,
    pub target_length: usize,
    pub identity: Identity,
    pub answer: Given,
    pub links: Names,
    /// All the memory it is charged for.
    pub bytes: usize,
    /// The digest of an answer that was offered, otherwise 0.
    pub digest: u64,
    fresh_until: u64,
    stale_until: u64,
    /// Until then one request is making a new answer; 0 if none is.
    turn: AtomicU64,
    used: AtomicBool,
}

/// What to do with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    Fresh,
    /// Send it: another request is making a new one.
    Stale,
    /// Let this request make a new one.
    Due,
    Gone,
}

impl Entry {
    pub fn new(key: Vec<u8>, names: usize, digest: u64, fill: Fill, now_ms: u64) -> Self {
        let fresh_until = now_ms.saturating_add(fill.fresh_ms);
        let plan = if fill.plan.is_simple() {
            0
        } else {
            fill.plan.size() + fill.target.len()
        };
        let bytes = key.len() + plan + fill.answer.size() + OVERHEAD + names * OVERHEAD_OF_NAME;
        Self {
            key: key.into(),
            target_length: fill.target.len(),
            identity: fill.plan.identity,
            answer: Arc::new(fill.answer),
            links: Names::default(),
            bytes,
            digest,
            fresh_until,
            stale_until: fresh_until.saturating_add(fill.stale_ms),
            turn: AtomicU64::new(0),
            used: AtomicBool::new(false),
        }
    }

    pub fn target(&self) -> &[u8] {
        &self.key[..self.target_length]
    }

    /// Whether its key has more parts than the target.
    pub fn is_planned(&self) -> bool {
        self.key.len() > self.target_length
    }

    /// `may_renew`: the request can go to the owner now, and its answer can be kept.
    pub fn freshness(&self, now_ms: u64, may_renew: bool) -> Freshness {
        if now_ms < self.fresh_until {
            return Freshness::Fresh;
        }
        if now_ms >= self.stale_until {
            return Freshness::Gone;
        }
        let turn = self.turn.load(Ordering::Relaxed);
        let takes_turn = may_renew && turn <= now_ms && self.take_turn(turn, now_ms + TURN_MS);
        if takes_turn {
            Freshness::Due
        } else {
            Freshness::Stale
        }
    }

    fn take_turn(&self, before: u64, until: u64) -> bool {
        let order = Ordering::Relaxed;
        let taken = self.turn.compare_exchange(before, until, order, order);
        taken.is_ok()
    }

    /// Lets the next request make a new answer.
    pub fn end_turn(&self) {
        self.turn.store(0, Ordering::Relaxed);
    }

    pub fn note_use(&self) {
        // Written only when it changes: several threads read this cache line.
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it may be evicted: it is too old, or was not used since this was last called.
    pub fn is_idle(&self, now_ms: u64) -> bool {
        !self.used.swap(false, Ordering::Relaxed) || now_ms >= self.stale_until
    }
}
