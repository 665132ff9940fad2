//! Answers that appeared once. An answer is kept at its second appearance, if both were the same: one that contains a nonce, a
//! request id or the rest of a rate limit is never kept, and a target that is requested once evicts nothing.

use crate::wire::outcome;

/// Keys that are remembered for each remainder of their hash, the last one first. With one, two targets that are asked for in turn
/// would each make the engine forget the other, and JavaScript would answer both for as long as that goes on.
const WAYS: usize = 8;
/// A power of two.
const SETS: usize = 1024;

#[derive(Clone, Copy, Default)]
struct Candidate {
    key: u64,
    digest: u64,
}

/// The lowest bit of a digest says that the answer was kept. One that differs from it is then a first appearance: the data has
/// changed, and the route need not be one whose answers always differ.
const WAS_KEPT: u64 = 1;

pub(crate) struct Candidates(Box<[[Candidate; WAYS]]>);

impl Default for Candidates {
    fn default() -> Self {
        Self(vec![[Candidate::default(); WAYS]; SETS].into())
    }
}

impl Candidates {
    /// Returns `KEPT` if the previous answer under this key was the same, otherwise `FIRST` or `CHANGES`.
    pub fn appear(&mut self, key: u64, digest: u64) -> u32 {
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
        let mut appear = |digest: u64| candidates.appear(7, digest << 1);
        assert_eq!(appear(1), outcome::FIRST);
        assert_eq!(appear(2), outcome::CHANGES);
        assert_eq!(appear(2), outcome::KEPT);
        // The data has changed since; that alone does not make the route one that always differs.
        assert_eq!(appear(3), outcome::FIRST);
        assert_eq!(appear(4), outcome::CHANGES);
        assert_eq!(appear(4), outcome::KEPT);
        assert_eq!(appear(4), outcome::KEPT);
    }

    #[test]
    fn keys_of_one_set_have_their_second_appearance_however_they_alternate() {
        let mut candidates = Candidates::default();
        let key = |number: usize| (7 + number * SETS) as u64;
        for number in 0..WAYS {
            assert_eq!(candidates.appear(key(number), 2), outcome::FIRST);
        }
        for number in 0..WAYS {
            assert_eq!(candidates.appear(key(number), 2), outcome::KEPT);
        }
    }

    #[test]
    fn one_key_too_many_begins_again() {
        let mut candidates = Candidates::default();
        let key = |number: usize| (7 + number * SETS) as u64;
        for number in 0..=WAYS {
            assert_eq!(candidates.appear(key(number), 2), outcome::FIRST);
        }
        assert_eq!(candidates.appear(key(WAYS), 2), outcome::KEPT);
        assert_eq!(candidates.appear(key(0), 2), outcome::FIRST);
    }
}
