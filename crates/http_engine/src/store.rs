//! The responses that a server sends by itself: found by their target, bounded by their bytes, and never older than a drop.
//!
//! One lock protects all contents. A hit takes it for reading and copies a reference; a change takes it for writing, and never
//! for longer than the change itself.

mod candidates;
mod contents;
mod counts;
mod drops;
mod entry;
mod key_plan;
mod shared;
mod tags;
#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::stored_response::StoredResponse;
use crate::wire::{answer_count, outcome};

pub(crate) use contents::{Contents, Found, NewEntry};
pub(crate) use counts::Counts;
pub use drops::ticket;
pub(crate) use entry::{Entry, Freshness};
pub use key_plan::{Identity, KeyPlan};
pub(crate) use shared::StoreHandle;

/// Max size of a response, as a fraction of the store (1/`PARTS`), so that a few large ones do not evict all others.
const PARTS: usize = 8;

/// A response to keep, and its conditions.
#[derive(Debug)]
pub struct Fill {
    /// The exact request target.
    pub target: Vec<u8>,
    /// The other parts of a request it depends on.
    pub plan: KeyPlan,
    /// The values in its original request for the plan's names, in their order.
    pub values: Vec<Option<Vec<u8>>>,
    /// The bytes to send.
    pub response: StoredResponse,
    /// Freshness lifetime in milliseconds.
    pub fresh_ms: u64,
    /// Time in milliseconds for which it may be sent after that, while one request renews it.
    pub stale_ms: u64,
    /// Names of the data it is made from; dropping one drops the response.
    pub tags: Vec<String>,
    /// The time its generation began, see [`ticket`]; `None` means now.
    pub ticket: Option<u64>,
    /// If true, it is kept only if the previous one was the same, byte for byte.
    pub is_offer: bool,
}

impl Fill {
    /// Creates a fill for every client that requests the target without credentials; no tags, never stale.
    pub fn anonymous(target: &str, response: StoredResponse, fresh_ms: u64) -> Self {
        Self {
            target: target.into(),
            plan: KeyPlan {
                identity: Identity::Anonymous,
                names: Vec::new(),
                encodings: 0,
            },
            values: Vec::new(),
            response,
            fresh_ms,
            stale_ms: 0,
            tags: Vec::new(),
            ticket: None,
            is_offer: false,
        }
    }
}

pub(crate) struct Store {
    contents: RwLock<Contents>,
    /// Number of responses, read without the lock.
    length: AtomicUsize,
    max_bytes: usize,
    /// Secret from clients, so that they cannot choose names that collide.
    seed: RandomState,
    pub counts: Counts,
}

impl Store {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            contents: RwLock::new(Contents::default()),
            length: AtomicUsize::new(0),
            max_bytes,
            seed: RandomState::new(),
            counts: Counts::default(),
        }
    }

    /// Returns true if a lookup can be skipped.
    pub fn is_empty(&self) -> bool {
        self.length.load(Ordering::Relaxed) == 0
    }

    /// Locks the contents for lookups.
    pub fn read(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a response, or returns the reason against it: one of [`outcome`].
    pub fn keep(&self, fill: Fill, now_ms: u64) -> u32 {
        let result = self.try_keep(fill, now_ms);
        self.counts.add_outcome(result);
        result
    }

    fn try_keep(&self, mut fill: Fill, now_ms: u64) -> u32 {
        if !key_plan::is_valid(&fill) {
            return outcome::CREDENTIALS;
        }
        fill.plan.replace_accept_encoding(&mut fill.values);
        let key = key_plan::key(&fill.target, &fill.values);
        let target = self.target_name(&fill.target);
        let tags = fill.tags.iter().map(|tag| self.tag_name(tag));
        let group = key_plan::group(&fill).map(|group| self.seed.hash_one((2_u8, group)));
        let mut names: Vec<_> = tags.chain([target]).chain(group).collect();
        names.sort_unstable();
        names.dedup();
        let candidate = fill
            .is_offer
            .then(|| (self.seed.hash_one(&key), fill.response.digest(&self.seed)));
        let digest = candidate.map_or(0, |(_, digest)| digest);
        let (ticket, plan) = (fill.ticket, fill.plan.clone());
        let entry = Entry::new(key, names.len(), digest, fill, now_ms);

        let mut contents = self.write();
        if ticket.is_some_and(|ticket| contents.drops.is_void(ticket, &names)) {
            return outcome::DROPPED;
        }
        if let Some((candidate, digest)) = candidate {
            let appearance = contents.record_offer(&entry.key, candidate, digest);
            if appearance != outcome::KEPT {
                return appearance;
            }
        }
        let result = if entry.bytes > self.max_bytes / PARTS {
            contents.remove_key(&entry.key);
            outcome::LARGE
        } else {
            let new = NewEntry {
                entry,
                plan,
                target,
                group,
                names,
            };
            match contents.insert(new, self.max_bytes, now_ms) {
                None => outcome::VARIANTS,
                Some(evicted) => {
                    self.counts.add(answer_count::EVICTED, evicted);
                    outcome::KEPT
                }
            }
        };
        self.length.store(contents.len(), Ordering::Relaxed);
        result
    }

    /// Drops every response to a target, including those being generated.
    pub fn drop_target(&self, target: &[u8]) {
        self.drop_names(&[self.target_name(target)]);
    }

    /// Drops every response that has one of the tags, including those being generated.
    pub fn drop_tags<'a>(&self, tags: impl Iterator<Item = &'a str>) {
        let names: Vec<_> = tags.map(|tag| self.tag_name(tag)).collect();
        self.drop_names(&names);
    }

    fn drop_names(&self, names: &[u64]) {
        let mut contents = self.write();
        contents.drops.record(names);
        let dropped = names.iter().map(|name| contents.remove_tagged(*name)).sum();
        self.length.store(contents.len(), Ordering::Relaxed);
        self.counts.add(answer_count::DROPPED, dropped);
    }

    /// Drops every response, including those being generated.
    pub fn clear(&self) {
        let mut contents = self.write();
        let old = contents.take_all();
        self.length.store(0, Ordering::Relaxed);
        self.counts.add(answer_count::DROPPED, old.len());
        // Unlocked first: freeing that much memory takes a while.
        drop(contents);
    }

    /// Returns all counts, in the order of [`answer_count`].
    pub fn all_counts(&self) -> Vec<u64> {
        let (count, bytes) = {
            let contents = self.read();
            (contents.len(), contents.bytes())
        };
        self.counts.all(count, bytes, self.max_bytes)
    }

    /// Returns the name of a target. Targets, tags and groups are identified by hashes, so a dropped one leaves no string in
    /// memory.
    fn target_name(&self, target: &[u8]) -> u64 {
        self.seed.hash_one((0_u8, target))
    }

    fn tag_name(&self, tag: &str) -> u64 {
        self.seed.hash_one((1_u8, tag))
    }

    fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        self.contents
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
