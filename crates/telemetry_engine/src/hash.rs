//! Hashes of numbers and bytes. They need not resist attacks: what collides is compared, and only costs time.

use std::hash::{BuildHasherDefault, Hasher};

const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

/// A map by numbers.
pub(crate) type NumberMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Numbers>>;

/// Hashes numbers.
#[derive(Default)]
pub(crate) struct Numbers(u64);

impl Numbers {
    fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(FACTOR);
    }
}

impl Hasher for Numbers {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add((*byte).into());
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.add(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.add(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }
}

/// Returns a hash of bytes that continues another.
pub(crate) fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hasher = Numbers(seed ^ bytes.len() as u64);
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        hasher.add(u64::from_le_bytes(*chunk));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    hasher.add(u64::from_le_bytes(last));
    hasher.finish()
}
