//! Answers that appeared once. An answer is kept at its second appearance, if both were the same: one that contains a nonce, a
//! request id or the rest of a rate limit is never kept, and a target that is requested once evicts nothing.

use crate::wire::outcome;

/// Slots of the table; a power of two.
const PLACES: usize = 8192;

#[derive(Clone, Copy, Default)]
struct Candidate {
    key: u64,
    digest: u64,
}

/// The lowest bit of a digest says that the answer was kept. One that differs from it is then a first appearance: the data has
/// changed, and the route need not be one whose answers always differ.
const WAS_KEPT: u64 = 1;

pub(crate) struct Candidates(Box<[Candidate]>);

impl Default for Candidates {
    fn default() -> Self {
        Self(vec![Candidate::default(); PLACES].into())
    }
}

impl Candidates {
    /// Returns `KEPT` if the previous answer under this key was the same, otherwise `FIRST` or `CHANGES`.
    pub fn appear(&mut self, key: u64, digest: u64) -> u32 {
        let digest = digest & !WAS_KEPT;
        let place = &mut self.0[key as usize & (PLACES - 1)];
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
    fn another_key_in_the_same_place_begins_again() {
        let mut candidates = Candidates::default();
        assert_eq!(candidates.appear(7, 2), outcome::FIRST);
        assert_eq!(candidates.appear(7 + PLACES as u64, 2), outcome::FIRST);
        assert_eq!(candidates.appear(7, 2), outcome::FIRST);
    }
}
