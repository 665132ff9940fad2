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

/// One answer may take up so large a part of a store: several that are large do not push out all others.
const PARTS: usize = 8;

/// An answer to be kept, and all that is to be known about it.
#[derive(Debug)]
pub struct Fill {
    /// The exact target it answers.
    pub target: Vec<u8>,
    /// What else of a request it depends on.
    pub plan: Plan,
    /// The values of its own request, for each of the plan's names.
    pub values: Vec<Option<Vec<u8>>>,
    /// What is sent.
    pub answer: KeptAnswer,
    /// How long it is valid.
    pub fresh_ms: u64,
    /// How long it may still be sent behind that, while one request makes a new one.
    pub stale_ms: u64,
    /// What it is made of.
    pub tags: Vec<String>,
    /// When it was begun: see [`ticket`]. `None` is now.
    pub ticket: Option<u64>,
    /// It is kept only if the last one was the same, byte by byte.
    pub is_offer: bool,
}

impl Fill {
    /// For whoever asks for the target, without tags; it is valid for as long as the caller says.
    pub fn anonymous(target: &str, answer: KeptAnswer, fresh_ms: u64) -> Self {
        Self {
            target: target.into(),
            plan: Plan {
                identity: Identity::Anonymous,
                names: Vec::new(),
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
    /// How many there are, to be looked at without the lock.
    answers: AtomicUsize,
    max_bytes: usize,
    /// Clients cannot know it: what is hashed with it cannot be made to collide.
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

    /// Nothing can be found.
    pub fn is_empty(&self) -> bool {
        self.answers.load(Ordering::Relaxed) == 0
    }

    /// For looking answers up.
    pub fn read(&self) -> RwLockReadGuard<'_, Shelf> {
        self.shelf.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an answer, or says why not: one of [`outcome`].
    pub fn keep(&self, fill: Fill, now_ms: u64) -> u32 {
        let result = self.try_keep(fill, now_ms);
        self.counts.add_outcome(result);
        result
    }

    fn try_keep(&self, fill: Fill, now_ms: u64) -> u32 {
        if !plan::is_sound(&fill) {
            return outcome::CREDENTIALS;
        }
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

    /// Drops every answer to a target, and those being made.
    pub fn drop_target(&self, target: &[u8]) {
        self.drop_names(&[self.target_name(target)]);
    }

    /// Drops every answer with one of the tags, and those being made.
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

    /// Drops everything, and whatever is being made.
    pub fn clear(&self) {
        let mut shelf = self.write();
        let old = shelf.take_all();
        self.answers.store(0, Ordering::Relaxed);
        self.counts.add(answer_count::DROPPED, old.len());
        // Others look things up while the memory is given back.
        drop(shelf);
    }

    /// All counts, as [`answer_count`] has them.
    pub fn all_counts(&self) -> Vec<u64> {
        let (answers, bytes) = {
            let shelf = self.read();
            (shelf.len(), shelf.bytes())
        };
        self.counts.all(answers, bytes, self.max_bytes)
    }

    /// Targets, tags and groups are named by hashes: of what is dropped no name stays behind.
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

/// What a hit holds on to.
pub(crate) type Given = Arc<KeptAnswer>;
