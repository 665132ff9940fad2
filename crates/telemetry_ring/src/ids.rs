//! The ids of a request's span, derived from the ring's seed and the request's place on its connection.
//!
//! `packages/telemetry/src/native/ids.ts` computes the same numbers: only multiplications and shifts of 32 bits, which JavaScript
//! has.

/// Identifies a request among those of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The connection's slot.
    pub slot: u32,
    /// The slot's generation.
    pub generation: u32,
    /// The request's number on its connection.
    pub sequence: u32,
}

/// Returns the four words of the trace id of a request that continues no trace.
#[must_use]
pub fn trace_id(seed: &[u32; 6], place: Place) -> [u32; 4] {
    let [a, b, c, d, ..] = *seed;
    [a, b, c, d].map(|seed| word(seed, place))
}

/// Returns the two words of a request's span id.
#[must_use]
pub fn span_id(seed: &[u32; 6], place: Place) -> [u32; 2] {
    let [.., a, b] = *seed;
    [a, b].map(|seed| word(seed, place))
}

/// A word is never 0: an id of zeros is invalid.
fn word(seed: u32, place: Place) -> u32 {
    let with_slot = mix(seed ^ place.slot);
    let with_generation = mix(with_slot ^ place.generation);
    mix(with_generation ^ place.sequence).max(1)
}

/// MurmurHash3's finalizer.
fn mix(mut word: u32) -> u32 {
    word = word.wrapping_add(0x9e37_79b9);
    word ^= word >> 16;
    word = word.wrapping_mul(0x85eb_ca6b);
    word ^= word >> 13;
    word = word.wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const SEED: [u32; 6] = [1, 2, 3, 4, 5, 6];

    #[test]
    fn requests_of_neighbouring_places_have_different_ids() {
        let mut traces = HashSet::new();
        let mut spans = HashSet::new();
        for slot in 0..20 {
            for generation in 0..20 {
                for sequence in 0..500 {
                    let place = Place {
                        slot,
                        generation,
                        sequence,
                    };
                    assert!(traces.insert(trace_id(&SEED, place)));
                    assert!(spans.insert(span_id(&SEED, place)));
                }
            }
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_javascript() {
        let place = Place {
            slot: 7,
            generation: 2,
            sequence: 40,
        };
        let hex =
            |words: &[u32]| -> String { words.iter().map(|word| format!("{word:08x}")).collect() };
        assert_eq!(
            hex(&trace_id(&SEED, place)),
            "5a77181faa37ae452490e1a1c0b64c3a"
        );
        assert_eq!(hex(&span_id(&SEED, place)), "b81f32b9ae4bfe7c");
    }
}
