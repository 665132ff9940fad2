//! Maps names to responses, without storing the name: its hash leads to the first link of a list, and a list whose last response
//! is removed occupies no memory.

use std::collections::HashMap;

const NONE: u32 = u32::MAX;

/// One name of one response: a link in the list of the name and in that of the response.
struct Link {
    name: u64,
    slot: u32,
    previous: u32,
    next: u32,
    /// The response's next name.
    sibling: u32,
}

pub(crate) struct Tags {
    first: HashMap<u64, u32>,
    links: Vec<Link>,
    /// The first unused link; `next` leads to the others.
    free: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Names(u32);

impl Default for Names {
    fn default() -> Self {
        Self(NONE)
    }
}

impl Default for Tags {
    fn default() -> Self {
        Self {
            first: HashMap::new(),
            links: Vec::new(),
            free: NONE,
        }
    }
}

impl Tags {
    pub fn add(&mut self, slot: u32, names: &[u64]) -> Names {
        let mut sibling = NONE;
        for name in names {
            let next = self.first.get(name).copied().unwrap_or(NONE);
            let link = Link {
                name: *name,
                slot,
                previous: NONE,
                next,
                sibling,
            };
            let place = self.store(link);
            if next != NONE {
                self.links[next as usize].previous = place;
            }
            self.first.insert(*name, place);
            sibling = place;
        }
        Names(sibling)
    }

    fn store(&mut self, link: Link) -> u32 {
        if self.free == NONE {
            self.links.push(link);
            return (self.links.len() - 1) as u32;
        }
        let place = self.free;
        self.free = self.links[place as usize].next;
        self.links[place as usize] = link;
        place
    }

    pub fn remove(&mut self, names: Names) {
        let mut place = names.0;
        while place != NONE {
            let Link {
                name,
                previous,
                next,
                sibling,
                ..
            } = self.links[place as usize];
            if next != NONE {
                self.links[next as usize].previous = previous;
            }
            match (previous, next) {
                (NONE, NONE) => {
                    self.first.remove(&name);
                }
                (NONE, _) => {
                    self.first.insert(name, next);
                }
                _ => self.links[previous as usize].next = next,
            }
            self.links[place as usize].next = self.free;
            self.free = place;
            place = sibling;
        }
    }

    /// Returns the responses of a name, the newest first.
    pub fn slots(&self, name: u64) -> impl Iterator<Item = u32> + '_ {
        let link = |place: u32| self.links.get(place as usize).map(|link| (place, link));
        let first = self.first.get(&name).and_then(|place| link(*place));
        std::iter::successors(first, move |(_, last)| link(last.next)).map(|(_, link)| link.slot)
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.first.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(tags: &Tags, name: u64) -> Vec<u32> {
        let mut slots: Vec<_> = tags.slots(name).collect();
        slots.sort_unstable();
        slots
    }

    #[test]
    fn a_name_stands_for_the_responses_that_have_it() {
        let mut tags = Tags::default();
        let first = tags.add(1, &[10, 20]);
        let second = tags.add(2, &[20]);
        let third = tags.add(3, &[20, 30]);
        assert_eq!(slots(&tags, 10), [1]);
        assert_eq!(slots(&tags, 20), [1, 2, 3]);
        tags.remove(second);
        assert_eq!(slots(&tags, 20), [1, 3]);
        tags.remove(third);
        assert_eq!(slots(&tags, 20), [1]);
        assert_eq!(slots(&tags, 30), []);
        tags.remove(first);
        assert_eq!(tags.count(), 0);
    }

    #[test]
    fn what_is_added_and_removed_again_and_again_takes_no_more_room() {
        let mut tags = Tags::default();
        for round in 0..1000 {
            let names = tags.add(1, &[round, round + 1, round + 2]);
            tags.remove(names);
        }
        assert_eq!(tags.links.len(), 3);
        assert_eq!(tags.count(), 0);
    }
}
