//! The contents of a store: by key, by name, and in the order of eviction.

use std::collections::HashMap;
use std::sync::Arc;

use super::candidates::Candidates;
use super::drops::Drops;
use super::tags::Tags;
use super::{Entry, KeyPlan};
use crate::wire::outcome;

/// Max responses that differ by varied headers alone: clients choose the values, and could choose any number.
const MAX_VARIANTS: usize = 16;

enum Node {
    Response(u32),
    /// The target alone does not decide; the number of responses with this plan.
    Plan(Arc<KeyPlan>, u32),
}

/// The result of looking up a target.
pub(crate) enum Found<'a> {
    Response(&'a Entry),
    Plan(&'a KeyPlan),
}

pub(crate) struct NewEntry {
    pub entry: Entry,
    pub plan: KeyPlan,
    /// The name of all responses to its target.
    pub target: u64,
    /// The name of all responses that differ from it by varied headers alone.
    pub group: Option<u64>,
    /// All its names, including these two, each once.
    pub names: Vec<u64>,
}

#[derive(Default)]
pub(crate) struct Contents {
    entries: Entries,
    candidates: Candidates,
    pub drops: Drops,
}

#[derive(Default)]
pub(crate) struct Entries {
    nodes: HashMap<Arc<[u8]>, Node>,
    slots: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// Position of the search for a response to evict: the hand of the CLOCK algorithm.
    hand: usize,
    tags: Tags,
    bytes: usize,
}

impl Contents {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn bytes(&self) -> usize {
        self.entries.bytes
    }

    pub fn find(&self, target: &[u8]) -> Option<Found<'_>> {
        match self.entries.nodes.get(target)? {
            Node::Response(slot) => self.entries.entry(*slot).map(Found::Response),
            Node::Plan(plan, _) => Some(Found::Plan(plan)),
        }
    }

    pub fn find_planned(&self, key: &[u8]) -> Option<&Entry> {
        match self.find(key)? {
            Found::Response(entry) => Some(entry),
            Found::Plan(_) => None,
        }
    }

    /// Notes an offer. Returns `KEPT` if the response is to be kept, otherwise the reason against it.
    pub fn record_offer(&mut self, key: &[u8], candidate: u64, digest: u64) -> u32 {
        let appearance = self.candidates.record(candidate, digest);
        let Some(entry) = self.find_planned(key) else {
            return appearance;
        };
        if entry.digest == digest {
            return outcome::KEPT;
        }
        if appearance != outcome::KEPT {
            // The next request goes to the owner at once, for the second appearance.
            entry.end_renewal();
        }
        appearance
    }

    /// Inserts a response, and returns the number of evicted ones; `None` if it is one variant too many.
    pub fn insert(&mut self, new: NewEntry, max_bytes: usize, now_ms: u64) -> Option<usize> {
        let entries = &mut self.entries;
        entries.remove_replaced(&new);
        if let Some(group) = new.group
            && entries.tags.slots(group).count() >= MAX_VARIANTS
            && !entries.remove_idle(group, now_ms)
        {
            return None;
        }
        let mut evicted = 0;
        while entries.bytes + new.entry.bytes > max_bytes && entries.evict(now_ms) {
            evicted += 1;
        }
        entries.add(new);
        Some(evicted)
    }

    pub fn remove_key(&mut self, key: &[u8]) {
        self.entries.remove_key(key);
    }

    /// Returns the number of keys and names.
    #[cfg(test)]
    pub fn residue(&self) -> usize {
        self.entries.nodes.len() + self.entries.tags.count()
    }

    /// Removes all responses that have the name, and returns their number.
    pub fn remove_tagged(&mut self, name: u64) -> usize {
        self.entries.remove_tagged(name)
    }

    /// Empties it, and returns the entries.
    pub fn take_all(&mut self) -> Entries {
        self.drops.record_all();
        std::mem::take(&mut self.entries)
    }
}

impl Entries {
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn entry(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// Removes the response under the same key, or those under a plan that this one replaces.
    fn remove_replaced(&mut self, new: &NewEntry) {
        match self.nodes.get(new.entry.target()) {
            Some(Node::Response(slot)) => {
                let slot = *slot;
                self.remove(slot);
            }
            Some(Node::Plan(plan, _)) if **plan != new.plan => {
                self.remove_tagged(new.target);
            }
            _ => {}
        }
        self.remove_key(&new.entry.key);
    }

    fn add(&mut self, new: NewEntry) {
        let NewEntry {
            mut entry,
            plan,
            names,
            ..
        } = new;
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        if entry.is_planned() {
            let node = self.nodes.entry(entry.target().into());
            let node = node.or_insert_with(|| Node::Plan(Arc::new(plan), 0));
            if let Node::Plan(_, count) = node {
                *count += 1;
            }
        }
        self.nodes
            .insert(Arc::clone(&entry.key), Node::Response(slot));
        entry.links = self.tags.add(slot, &names);
        self.bytes += entry.bytes;
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = Some(entry),
            None => self.slots.push(Some(entry)),
        }
    }

    fn remove_key(&mut self, key: &[u8]) {
        if let Some(Node::Response(slot)) = self.nodes.get(key) {
            let slot = *slot;
            self.remove(slot);
        }
    }

    fn remove(&mut self, slot: u32) {
        let place = self.slots.get_mut(slot as usize);
        let Some(entry) = place.and_then(Option::take) else {
            return;
        };
        self.free.push(slot);
        self.nodes.remove(&entry.key);
        if entry.is_planned()
            && let Some(Node::Plan(_, count)) = self.nodes.get_mut(entry.target())
        {
            *count -= 1;
            if *count == 0 {
                self.nodes.remove(entry.target());
            }
        }
        self.tags.remove(entry.links);
        self.bytes -= entry.bytes;
    }

    fn remove_tagged(&mut self, name: u64) -> usize {
        let slots: Vec<_> = self.tags.slots(name).collect();
        for slot in &slots {
            self.remove(*slot);
        }
        slots.len()
    }

    /// Removes one idle response of that name.
    fn remove_idle(&mut self, name: u64, now_ms: u64) -> bool {
        let is_idle = |slot: &u32| {
            let entry = self.entry(*slot);
            entry.is_some_and(|entry| entry.is_idle(now_ms))
        };
        let idle = self.tags.slots(name).find(is_idle);
        if let Some(slot) = idle {
            self.remove(slot);
        }
        idle.is_some()
    }

    /// Removes the next response that is too old, or that was not used since the hand last passed it.
    fn evict(&mut self, now_ms: u64) -> bool {
        // All may have been used; in the second round none has.
        for _ in 0..self.slots.len() * 2 {
            self.hand = (self.hand + 1) % self.slots.len();
            let slot = self.hand as u32;
            if self.entry(slot).is_some_and(|entry| entry.is_idle(now_ms)) {
                self.remove(slot);
                return true;
            }
        }
        false
    }
}
