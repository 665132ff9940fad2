//! Responses that appeared once. A response is kept at its second appearance, if both were the same: one that contains a nonce, a
//! request id or the remainder of a rate limit is never kept, and a target that is requested once evicts nothing.

use crate::wire::outcome;

/// Keys remembered per remainder of their hash, the most recent first. With one, two targets requested alternately would each
/// make the engine forget the other, and JavaScript would respond to both for as long as that goes on.
const WAYS: usize = 8;
/// A power of two.
const SETS: usize = 1024;

#[derive(Clone, Copy, Default)]
struct Candidate {
    key: u64,
    digest: u64,
}

/// Bit of a digest that marks a kept response, the lowest one. A response that differs from it is then a first appearance: the
/// data has changed, and the route's responses need not always differ.
const WAS_KEPT: u64 = 1;

pub(crate) struct Candidates(Box<[[Candidate; WAYS]]>);

impl Default for Candidates {
    fn default() -> Self {
        Self(vec![[Candidate::default(); WAYS]; SETS].into())
    }
}

impl Candidates {
    /// Returns `KEPT` if the previous response under this key was the same, otherwise `FIRST` or `CHANGES`.
    pub fn record(&mut self, key: u64, digest: u64) -> u32 {
        let digest = digest & !WAS_KEPT;
        let set = &mut self.0[key as usize & (SETS - 1)];
        let way = set.iter().position(|candidate| candidate.key == key);
        set[..=way.unwrap_or(WAYS - 1)].rotate_right(1);
        let place = &mut set[0];
        let before = std::mem::replace(place, Candidate { key, digest });
        if before.key != key {
            return outcome::FIRST;
        }
        if before.digest & !WAS_KEPT == digest {
            place.digest |= WAS_KEPT;
            return outcome::KEPT;
        }
        if before.digest & WAS_KEPT != 0 {
            outcome::FIRST
        } else {
            outcome::CHANGES
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_two_that_are_the_same_is_kept() {
        let mut candidates = Candidates::default();
        let mut record = |digest: u64| candidates.record(7, digest << 1);
        assert_eq!(record(1), outcome::FIRST);
        assert_eq!(record(2), outcome::CHANGES);
        assert_eq!(record(2), outcome::KEPT);
        // The data has changed since; that alone does not mean that the route's responses always differ.
        assert_eq!(record(3), outcome::FIRST);
        assert_eq!(record(4), outcome::CHANGES);
        assert_eq!(record(4), outcome::KEPT);
        assert_eq!(record(4), outcome::KEPT);
    }

    #[test]
    fn keys_of_one_set_have_their_second_appearance_however_they_alternate() {
        let mut candidates = Candidates::default();
        let key = |number: usize| (7 + number * SETS) as u64;
        for number in 0..WAYS {
            assert_eq!(candidates.record(key(number), 2), outcome::FIRST);
        }
        for number in 0..WAYS {
            assert_eq!(candidates.record(key(number), 2), outcome::KEPT);
        }
    }

    #[test]
    fn one_key_too_many_begins_again() {
        let mut candidates = Candidates::default();
        let key = |number: usize| (7 + number * SETS) as u64;
        for number in 0..=WAYS {
            assert_eq!(candidates.record(key(number), 2), outcome::FIRST);
        }
        assert_eq!(candidates.record(key(WAYS), 2), outcome::KEPT);
        assert_eq!(candidates.record(key(0), 2), outcome::FIRST);
    }
}
