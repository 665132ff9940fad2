//! A cache of repeated bytes: URLs and header blocks, with their facts.
//!
//! Bounded, exact, and filled at the second appearance, so that unique bytes never evict repeated ones. Two values share a set;
//! the less recently found one is evicted.

/// Sets of a table; a power of two.
const SETS: usize = 512;
const WAYS: usize = 2;

struct Entry<T> {
    hash: u64,
    bytes: Box<[u8]>,
    facts: T,
}

struct Set<T> {
    entries: [Option<Entry<T>>; WAYS],
    /// The hash of the last miss.
    candidate: u64,
    /// The most recently used way.
    recent: u8,
}

pub(crate) struct RepeatCache<T> {
    sets: Box<[Set<T>]>,
    max_length: usize,
}

/// The result of a lookup.
pub(crate) enum Lookup<T> {
    /// Entry `.0`, with these facts.
    Known(u32, T),
    /// Seen for the second time: the caller should insert them, see [`RepeatCache::insert`].
    Repeated(u64),
    /// Not inserted yet.
    New,
}

impl<T: Copy> RepeatCache<T> {
    pub fn new(max_length: usize) -> Self {
        let set = || Set {
            entries: [const { None }; WAYS],
            candidate: 0,
            recent: 0,
        };
        Self {
            sets: std::iter::repeat_with(set).take(SETS).collect(),
            max_length,
        }
    }

    pub fn lookup(&mut self, bytes: &[u8]) -> Lookup<T> {
        if bytes.len() > self.max_length {
            return Lookup::New;
        }
        let hash = hash(bytes);
        let index = hash as usize & (SETS - 1);
        let set = &mut self.sets[index];
        for (way, entry) in set.entries.iter().enumerate() {
            if let Some(entry) = entry
                && entry.hash == hash
                && *entry.bytes == *bytes
            {
                set.recent = way as u8;
                return Lookup::Known((index * WAYS + way) as u32, entry.facts);
            }
        }
        if set.candidate == hash {
            return Lookup::Repeated(hash);
        }
        set.candidate = hash;
        Lookup::New
    }

    /// Inserts bytes that got [`Lookup::Repeated`], and returns the entry's number.
    pub fn insert(&mut self, hash: u64, bytes: &[u8], facts: T) -> u32 {
        let index = hash as usize & (SETS - 1);
        let set = &mut self.sets[index];
        let way = set.entries.iter().position(Option::is_none);
        let way = way.unwrap_or(usize::from(1 - set.recent));
        set.entries[way] = Some(Entry {
            hash,
            bytes: bytes.into(),
            facts,
        });
        (index * WAYS + way) as u32
    }
}

/// Hashes bytes. Only the place in the table depends on it; equality is checked byte by byte. Four words at a time avoid waiting
/// for each other's products.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    const LANES: usize = 4;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let mut lanes: [u64; LANES] =
        std::array::from_fn(|lane| FACTOR.wrapping_mul(lane as u64 + 1) ^ bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    let (rows, words) = words.as_chunks::<LANES>();
    for row in rows {
        for (lane, word) in lanes.iter_mut().zip(row) {
            *lane = fold(*lane, u64::from_le_bytes(*word)).wrapping_add(FACTOR);
        }
    }
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = fold(*lane, u64::from_le_bytes(*word)).wrapping_add(FACTOR);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let state = lanes.into_iter().fold(u64::from_le_bytes(last), fold);
    fold(state, FACTOR) | 1
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::hash;

    #[test]
    fn every_byte_and_its_place_count() {
        let mut hashes = HashSet::new();
        for length in 0..100 {
            hashes.insert(hash(&vec![0; length]));
            for at in 0..length {
                let mut bytes = vec![0; length];
                bytes[at] = 1;
                hashes.insert(hash(&bytes));
            }
        }
        assert_eq!(hashes.len(), 100 + (0..100).sum::<usize>());
    }
}
