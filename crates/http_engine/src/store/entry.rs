//! A response in the store, with its lifetime and use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::tags::Names;
use super::{Fill, Identity};
use crate::stored_response::StoredResponse;

/// Time for the request that was let through to replace a stale response, in milliseconds, before the next one is let through.
const RENEWAL_MS: u64 = 5_000;

/// Memory of tables and the allocator besides the bytes of a response, and for each of its names, in bytes.
/// `tests/store_memory.rs` compares it with the actual allocations.
const OVERHEAD: usize = 512;
const OVERHEAD_OF_NAME: usize = 128;

pub(crate) struct Entry {
    pub key: Arc<[u8]>,
    pub target_length: usize,
    pub identity: Identity,
    pub response: Arc<StoredResponse>,
    pub links: Names,
    /// All memory charged to it, in bytes.
    pub bytes: usize,
    /// The digest of an offered response, otherwise 0.
    pub digest: u64,
    fresh_until: u64,
    stale_until: u64,
    /// Time until which one request renews the response; 0 if none does.
    renewing_until: AtomicU64,
    used: AtomicBool,
}

/// The handling of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    Fresh,
    /// Send it: another request renews it.
    Stale,
    /// Let this request renew it.
    Renew,
    Expired,
}

impl Entry {
    pub fn new(key: Vec<u8>, names: usize, digest: u64, fill: Fill, now_ms: u64) -> Self {
        let fresh_until = now_ms.saturating_add(fill.fresh_ms);
        let plan = if fill.plan.is_simple() {
            0
        } else {
            fill.plan.size() + fill.target.len()
        };
        let bytes = key.len() + plan + fill.response.size() + OVERHEAD + names * OVERHEAD_OF_NAME;
        Self {
            key: key.into(),
            target_length: fill.target.len(),
            identity: fill.plan.identity,
            response: Arc::new(fill.response),
            links: Names::default(),
            bytes,
            digest,
            fresh_until,
            stale_until: fresh_until.saturating_add(fill.stale_ms),
            renewing_until: AtomicU64::new(0),
            used: AtomicBool::new(false),
        }
    }

    pub fn target(&self) -> &[u8] {
        &self.key[..self.target_length]
    }

    /// Returns true if its key has more parts than the target.
    pub fn is_planned(&self) -> bool {
        self.key.len() > self.target_length
    }

    /// Returns the handling of a request. `may_renew`: the request can go to the owner now, and its response can be kept.
    pub fn freshness(&self, now_ms: u64, may_renew: bool) -> Freshness {
        if now_ms < self.fresh_until {
            return Freshness::Fresh;
        }
        if now_ms >= self.stale_until {
            return Freshness::Expired;
        }
        let until = self.renewing_until.load(Ordering::Relaxed);
        let renews = may_renew && until <= now_ms && self.start_renewal(until, now_ms + RENEWAL_MS);
        if renews {
            Freshness::Renew
        } else {
            Freshness::Stale
        }
    }

    fn start_renewal(&self, before: u64, until: u64) -> bool {
        let order = Ordering::Relaxed;
        let taken = self
            .renewing_until
            .compare_exchange(before, until, order, order);
        taken.is_ok()
    }

    /// Lets the next request renew the response.
    pub fn end_renewal(&self) {
        self.renewing_until.store(0, Ordering::Relaxed);
    }

    pub fn mark_used(&self) {
        // Written only when it changes: several threads read this cache line.
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if it may be evicted: it is too old, or was not used since the last call.
    pub fn is_idle(&self, now_ms: u64) -> bool {
        !self.used.swap(false, Ordering::Relaxed) || now_ms >= self.stale_until
    }
}
