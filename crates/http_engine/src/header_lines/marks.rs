//! Positions of the bytes that divide a header block.

/// Bytes examined together.
pub(super) const PART: usize = 64;

/// One bit per byte of a part, the first byte in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub newlines: u64,
    pub colons: u64,
}

#[cfg(target_arch = "x86_64")]
pub(super) use sse2::{are_usual, find};

#[cfg(not(target_arch = "x86_64"))]
pub(super) use plain::{are_usual, find};

/// For the baseline of x86-64.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8, _mm_sub_epi8,
    };

    use super::{Marks, PART};

    const LANE: usize = 16;

    pub fn find(part: &[u8; PART]) -> Marks {
        // SAFETY: every x86-64 has SSE2.
        unsafe { marks(part) }
    }

    /// Returns true if the first bytes, or all, are letters, digits or hyphens.
    pub fn are_usual(bytes: &[u8; LANE], length: usize) -> bool {
        // SAFETY: every x86-64 has SSE2.
        let usual = unsafe { usual(bytes) };
        !usual & ((1 << length.min(LANE)) - 1) == 0
    }

    #[target_feature(enable = "sse2")]
    fn marks(part: &[u8; PART]) -> Marks {
        let mut marks = Marks::default();
        let (lanes, _) = part.as_chunks::<LANE>();
        for (index, lane) in lanes.iter().enumerate() {
            let bytes = load(lane);
            marks.newlines |= bits(equal(bytes, b'\n')) << (index * LANE);
            marks.colons |= bits(equal(bytes, b':')) << (index * LANE);
        }
        marks
    }

    #[target_feature(enable = "sse2")]
    fn usual(bytes: &[u8; LANE]) -> u64 {
        let bytes = load(bytes);
        let lower = _mm_or_si128(bytes, all(0x20));
        let letters = at_most(_mm_sub_epi8(lower, all(b'a')), 25);
        let digits = at_most(_mm_sub_epi8(bytes, all(b'0')), 9);
        let others = _mm_or_si128(digits, equal(bytes, b'-'));
        bits(_mm_or_si128(letters, others))
    }

    #[target_feature(enable = "sse2")]
    fn load(lane: &[u8; LANE]) -> __m128i {
        // SAFETY: sixteen bytes of a live array are read, wherever they lie.
        unsafe { _mm_loadu_si128(lane.as_ptr().cast()) }
    }

    #[target_feature(enable = "sse2")]
    fn all(byte: u8) -> __m128i {
        _mm_set1_epi8(byte.cast_signed())
    }

    #[target_feature(enable = "sse2")]
    fn equal(bytes: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(bytes, all(byte))
    }

    #[target_feature(enable = "sse2")]
    fn at_most(bytes: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(bytes, _mm_min_epu8(bytes, all(byte)))
    }

    #[target_feature(enable = "sse2")]
    fn bits(bytes: __m128i) -> u64 {
        u64::from(_mm_movemask_epi8(bytes).cast_unsigned())
    }
}

/// Examines one byte at a time.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    use super::{Marks, PART};

    pub fn find(part: &[u8; PART]) -> Marks {
        let mut marks = Marks::default();
        for (index, byte) in part.iter().enumerate() {
            marks.newlines |= u64::from(*byte == b'\n') << index;
            marks.colons |= u64::from(*byte == b':') << index;
        }
        marks
    }

    pub fn are_usual(bytes: &[u8; 16], length: usize) -> bool {
        let is_usual = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        bytes.iter().take(length).all(is_usual)
    }
}

#[cfg(test)]
mod tests {
    use super::{PART, are_usual, find, plain};

    #[test]
    fn every_byte_is_marked_as_what_it_is_wherever_it_is() {
        for at in 0..PART {
            for byte in 0..=255 {
                let mut part = [b'x'; PART];
                part[at] = byte;
                assert_eq!(find(&part), plain::find(&part), "byte {byte} at {at}");
            }
        }
        assert_eq!(find(&[b'\n'; PART]).newlines, u64::MAX);
    }

    #[test]
    fn usual_bytes_of_a_name_are_known_by_each_of_them() {
        for length in 0..=20 {
            for at in 0..16 {
                for byte in 0..=255 {
                    let mut bytes = [b'-'; 16];
                    bytes[at] = byte;
                    let expected = plain::are_usual(&bytes, length);
                    assert_eq!(are_usual(&bytes, length), expected, "{byte} at {at}");
                }
            }
        }
    }
}
