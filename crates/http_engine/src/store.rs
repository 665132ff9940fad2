//! The answers a server gives by itself: found by their target, bounded by their bytes, and never older than a drop.
//!
//! One lock holds what belongs together. A hit takes it for reading and copies a reference; what changes the store takes it for
//! writing, and never for longer than the change itself.

mod candidates;
mod counts;
mod drops;
mod entry;
mod plan;
mod shared;
mod shelf;
mod tags;
#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::kept_answer::KeptAnswer;
use crate::wire::{answer_count, outcome};

pub(crate) use counts::Counts;
pub use drops::ticket;
pub(crate) use entry::{Entry, Freshness};
pub use plan::{Identity, Plan};
pub(crate) use shared::StoreHandle;
pub(crate) use shelf::{Found, New, Shelf};

/// An answer may take up at most one part in so many of a store, so that a few large ones do not evict all others.
const PARTS: usize = 8;

/// An answer to keep, and the conditions it is kept under.
#[derive(Debug)]
pub struct Fill {
    /// The exact target it answers.
    pub target: Vec<u8>,
    /// What else in a request it depends on.
    pub plan: Plan,
    /// The values its own request had for the plan's names, in their order.
    pub values: Vec<Option<Vec<u8>>>,
    /// The bytes to send.
    pub answer: KeptAnswer,
    /// How long it is fresh.
    pub fresh_ms: u64,
    /// How long it may still be sent after that, while one request makes a new one.
    pub stale_ms: u64,
    /// Names of the data it is made of; dropping one drops the answer.
    pub tags: Vec<String>,
    /// When work on it began, see [`ticket`]; `None` means now.
    pub ticket: Option<u64>,
    /// It is kept only if the previous one was the same, byte for byte.
    pub is_offer: bool,
}

impl Fill {
    /// For every client that asks for the target without credentials; no tags, never stale.
    pub fn anonymous(target: &str, answer: KeptAnswer, fresh_ms: u64) -> Self {
        Self {
            target: target.into(),
            plan: Plan {
                identity: Identity::Anonymous,
                names: Vec::new(),
                encodings: 0,
            },
            values: Vec::new(),
            answer,
            fresh_ms,
            stale_ms: 0,
            tags: Vec::new(),
            ticket: None,
            is_offer: false,
        }
    }
}

pub(crate) struct Store {
    shelf: RwLock<Shelf>,
    /// How many answers there are: read without the lock.
    answers: AtomicUsize,
    max_bytes: usize,
    /// Clients do not know it, so they cannot choose names that collide.
    seed: RandomState,
    pub counts: Counts,
}

impl Store {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            shelf: RwLock::new(Shelf::default()),
            answers: AtomicUsize::new(0),
            max_bytes,
            seed: RandomState::new(),
            counts: Counts::default(),
        }
    }

    /// Whether a lookup can be left out.
    pub fn is_empty(&self) -> bool {
        self.answers.load(Ordering::Relaxed) == 0
    }

    /// Locks it for lookups.
    pub fn read(&self) -> RwLockReadGuard<'_, Shelf> {
        self.shelf.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an answer, or returns why not: one of [`outcome`].
    pub fn keep(&self, fill: Fill, now_ms: u64) -> u32 {
        let result = self.try_keep(fill, now_ms);
        self.counts.add_outcome(result);
        result
    }

    fn try_keep(&self, mut fill: Fill, now_ms: u64) -> u32 {
        if !plan::is_sound(&fill) {
            return outcome::CREDENTIALS;
        }
        fill.plan.choose_in(&mut fill.values);
        let key = plan::key(&fill.target, &fill.values);
        let target = self.target_name(&fill.target);
        let tags = fill.tags.iter().map(|tag| self.tag_name(tag));
        let group = plan::group(&fill).map(|group| self.seed.hash_one((2_u8, group)));
        let mut names: Vec<_> = tags.chain([target]).chain(group).collect();
        names.sort_unstable();
        names.dedup();
        let candidate = fill
            .is_offer
            .then(|| (self.seed.hash_one(&key), fill.answer.digest(&self.seed)));
        let digest = candidate.map_or(0, |(_, digest)| digest);
        let (ticket, plan) = (fill.ticket, fill.plan.clone());
        let entry = Entry::new(key, names.len(), digest, fill, now_ms);

        let mut shelf = self.write();
        if ticket.is_some_and(|ticket| shelf.drops.is_void(ticket, &names)) {
            return outcome::DROPPED;
        }
        if let Some((candidate, digest)) = candidate {
            let appearance = shelf.appear(&entry.key, candidate, digest);
            if appearance != outcome::KEPT {
                return appearance;
            }
        }
        let result = if entry.bytes > self.max_bytes / PARTS {
            shelf.remove_key(&entry.key);
            outcome::LARGE
        } else {
            let new = New {
                entry,
                plan,
                target,
                group,
                names,
            };
            match shelf.insert(new, self.max_bytes, now_ms) {
                None => outcome::VARIANTS,
                Some(evicted) => {
                    self.counts.add(answer_count::EVICTED, evicted);
                    outcome::KEPT
                }
            }
        };
        self.answers.store(shelf.len(), Ordering::Relaxed);
        result
    }

    /// Drops every answer to a target, those being made included.
    pub fn drop_target(&self, target: &[u8]) {
        self.drop_names(&[self.target_name(target)]);
    }

    /// Drops every answer that has one of the tags, those being made included.
    pub fn drop_tags<'a>(&self, tags: impl Iterator<Item = &'a str>) {
        let names: Vec<_> = tags.map(|tag| self.tag_name(tag)).collect();
        self.drop_names(&names);
    }

    fn drop_names(&self, names: &[u64]) {
        let mut shelf = self.write();
        shelf.drops.note(names);
        let dropped = names.iter().map(|name| shelf.remove_tagged(*name)).sum();
        self.answers.store(shelf.len(), Ordering::Relaxed);
        self.counts.add(answer_count::DROPPED, dropped);
    }

    /// Drops every answer, those being made included.
    pub fn clear(&self) {
        let mut shelf = self.write();
        let old = shelf.take_all();
        self.answers.store(0, Ordering::Relaxed);
        self.counts.add(answer_count::DROPPED, old.len());
        // Unlocked first: freeing that much memory takes a while.
        drop(shelf);
    }

    /// All counts, in the order of [`answer_count`].
    pub fn all_counts(&self) -> Vec<u64> {
        let (answers, bytes) = {
            let shelf = self.read();
            (shelf.len(), shelf.bytes())
        };
        self.counts.all(answers, bytes, self.max_bytes)
    }

    /// Targets, tags and groups are known by hashes, so a dropped one leaves no string in memory.
    fn target_name(&self, target: &[u8]) -> u64 {
        self.seed.hash_one((0_u8, target))
    }

    fn tag_name(&self, tag: &str) -> u64 {
        self.seed.hash_one((1_u8, tag))
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shelf> {
        self.shelf.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer of a hit, which lives until it is sent.
pub(crate) type Given = Arc<KeptAnswer>;
