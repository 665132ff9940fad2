//! The contents of a store: by key, by name, and in the order of eviction.

use std::collections::HashMap;
use std::sync::Arc;

use super::candidates::Candidates;
use super::drops::Drops;
use super::tags::Tags;
use super::{Entry, Plan};
use crate::wire::outcome;

/// How many answers may differ by varied headers alone: clients choose the values, and could choose any number.
const VARIANTS: usize = 16;

enum Node {
    Answer(u32),
    /// The target alone does not decide; so many answers have this plan.
    Plan(Arc<Plan>, u32),
}

/// What is found under a target.
pub(crate) enum Found<'a> {
    Answer(&'a Entry),
    Plan(&'a Plan),
}

/// An answer to insert.
pub(crate) struct New {
    pub entry: Entry,
    pub plan: Plan,
    /// The name of all answers to its target.
    pub target: u64,
    /// The name of all answers it differs from by varied headers alone.
    pub group: Option<u64>,
    /// All its names, these two included, each once.
    pub names: Vec<u64>,
}

#[derive(Default)]
pub(crate) struct Shelf {
    contents: Contents,
    candidates: Candidates,
    pub drops: Drops,
}

#[derive(Default)]
pub(crate) struct Contents {
    nodes: HashMap<Arc<[u8]>, Node>,
    slots: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// Where the search for an answer to evict goes on: the hand of the CLOCK algorithm.
    hand: usize,
    tags: Tags,
    bytes: usize,
}

impl Shelf {
    pub fn len(&self) -> usize {
        self.contents.len()
    }

    pub fn bytes(&self) -> usize {
        self.contents.bytes
    }

    pub fn find(&self, target: &[u8]) -> Option<Found<'_>> {
        match self.contents.nodes.get(target)? {
            Node::Answer(slot) => self.contents.entry(*slot).map(Found::Answer),
            Node::Plan(plan, _) => Some(Found::Plan(plan)),
        }
    }

    pub fn find_planned(&self, key: &[u8]) -> Option<&Entry> {
        match self.find(key)? {
            Found::Answer(entry) => Some(entry),
            Found::Plan(_) => None,
        }
    }

    /// Notes an offer: `KEPT` if the answer is to be kept, otherwise why not.
    pub fn appear(&mut self, key: &[u8], candidate: u64, digest: u64) -> u32 {
        let appearance = self.candidates.appear(candidate, digest);
        let Some(entry) = self.find_planned(key) else {
            return appearance;
        };
        if entry.digest == digest {
            return outcome::KEPT;
        }
        if appearance != outcome::KEPT {
            // The next request goes to the owner at once, for the second appearance.
            entry.end_turn();
        }
        appearance
    }

    /// Inserts an answer, and returns how many were evicted for it; `None` if it is one variant too many.
    pub fn insert(&mut self, new: New, max_bytes: usize, now_ms: u64) -> Option<usize> {
        let contents = &mut self.contents;
        contents.make_way(&new);
        if let Some(group) = new.group
            && contents.tags.slots(group).count() >= VARIANTS
            && !contents.remove_idle(group, now_ms)
        {
            return None;
        }
        let mut evicted = 0;
        while contents.bytes + new.entry.bytes > max_bytes && contents.evict(now_ms) {
            evicted += 1;
        }
        contents.add(new);
        Some(evicted)
    }

    pub fn remove_key(&mut self, key: &[u8]) {
        self.contents.remove_key(key);
    }

    /// How many keys and names there are.
    #[cfg(test)]
    pub fn residue(&self) -> usize {
        self.contents.nodes.len() + self.contents.tags.count()
    }

    /// Removes all answers that have the name, and returns how many there were.
    pub fn remove_tagged(&mut self, name: u64) -> usize {
        self.contents.remove_tagged(name)
    }

    /// Empties it, and returns the contents.
    pub fn take_all(&mut self) -> Contents {
        self.drops.note_all();
        std::mem::take(&mut self.contents)
    }
}

impl Contents {
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn entry(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// Removes what was kept under the same key, or under a plan that this one replaces.
    fn make_way(&mut self, new: &New) {
        match self.nodes.get(new.entry.target()) {
            Some(Node::Answer(slot)) => {
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

    fn add(&mut self, new: New) {
        let New {
            mut entry,
            plan,
            names,
            ..
        } = new;
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        if entry.is_planned() {
            let node = self.nodes.entry(entry.target().into());
            let node = node.or_insert_with(|| Node::Plan(Arc::new(plan), 0));
            if let Node::Plan(_, answers) = node {
                *answers += 1;
            }
        }
        self.nodes
            .insert(Arc::clone(&entry.key), Node::Answer(slot));
        entry.links = self.tags.add(slot, &names);
        self.bytes += entry.bytes;
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = Some(entry),
            None => self.slots.push(Some(entry)),
        }
    }

    fn remove_key(&mut self, key: &[u8]) {
        if let Some(Node::Answer(slot)) = self.nodes.get(key) {
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
            && let Some(Node::Plan(_, answers)) = self.nodes.get_mut(entry.target())
        {
            *answers -= 1;
            if *answers == 0 {
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

    /// Removes one answer of that name that is idle.
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

    /// Removes the next answer that is too old, or that was not used since the hand last passed it.
    fn evict(&mut self, now_ms: u64) -> bool {
        // All may have been used; on the second round none has.
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
