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
    // Two at a time: neither waits for the other's multiplication.
    let mut hashers = [Numbers(seed ^ bytes.len() as u64), Numbers(!seed)];
    let mut add = |chunk: &[u8; 16]| {
        let number = u128::from_le_bytes(*chunk);
        hashers[0].add(number as u64);
        hashers[1].add((number >> 64) as u64);
    };
    let (chunks, rest) = bytes.as_chunks::<16>();
    for chunk in chunks {
        add(chunk);
    }
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    add(&last);
    let [mut one, other] = hashers;
    one.add(other.finish());
    one.finish()
}
