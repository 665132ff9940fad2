//! An answer in its place: how long it is good, and whether it was used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::tags::Names;
use super::{Fill, Given, Identity};

/// How long a request that came through has to make a new answer in place of a stale one, before the next one may try.
const TURN_MS: u64 = 5_000;

/// What tables and allocator take up beside the bytes of an answer, and for each of its names: `tests/store_memory.rs` holds
/// this against what is allocated.
const OVERHEAD: usize = 512;
const OVERHEAD_OF_NAME: usize = 128;

pub(crate) struct Entry {
    pub key: Arc<[u8]>,
    pub target_length: usize,
    pub identity: Identity,
    pub answer: Given,
    pub links: Names,
    /// All it takes up.
    pub bytes: usize,
    /// Of an answer that was offered.
    pub digest: u64,
    fresh_until: u64,
    stale_until: u64,
    /// Until when somebody makes a new one.
    turn: AtomicU64,
    used: AtomicBool,
}

/// What may be done with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    Fresh,
    /// It is sent, while another request makes a new one.
    Stale,
    /// This request makes a new one.
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

    /// More than the target leads to it.
    pub fn is_planned(&self) -> bool {
        self.key.len() > self.target_length
    }

    /// `may_renew`: the request can go to the owner now, and what comes of it can be kept.
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

    /// The next request may make a new one.
    pub fn end_turn(&self) {
        self.turn.store(0, Ordering::Relaxed);
    }

    pub fn note_use(&self) {
        // Written once: several threads read this line.
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// Whether nothing is lost with it: too old, or not used since the last time this was asked.
    pub fn is_idle(&self, now_ms: u64) -> bool {
        !self.used.swap(false, Ordering::Relaxed) || now_ms >= self.stale_until
    }
}
