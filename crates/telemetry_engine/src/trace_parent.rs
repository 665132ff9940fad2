//! The header `traceparent`, read as `@opentelemetry/core` reads it.

/// The place of a caller in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceParent {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    pub is_sampled: bool,
}

/// Length of `00-TRACE_ID-SPAN_ID-00`.
const LENGTH: usize = 55;

/// Returns `None` if the value is invalid.
pub(crate) fn parse(value: &[u8]) -> Option<TraceParent> {
    let value = match value {
        [first, rest @ ..] if is_space(*first) => rest,
        _ => value,
    };
    let (parent, rest) = value.split_at_checked(LENGTH)?;
    let has_dashes = [2, 35, 52].iter().all(|at| parent[*at] == b'-');
    let [version] = hex(&parent[..2])?;
    let parsed = TraceParent {
        trace_id: hex(&parent[3..35])?,
        span_id: hex(&parent[36..52])?,
        is_sampled: hex::<1>(&parent[53..])?[0] & 1 != 0,
    };
    let is_valid = has_dashes
        && version != 0xff
        && parsed.trace_id != [0; 16]
        && parsed.span_id != [0; 8]
        && match rest {
            [] => true,
            // A comma joins two headers.
            [b'-', ..] => version != 0 && !rest.contains(&b','),
            [last] => is_space(*last),
            _ => false,
        };
    is_valid.then_some(parsed)
}

/// A space of a regular expression of JavaScript.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ' | 0xa0)
}

/// Parses digits in lower case.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let (pairs, _) = digits.as_chunks::<2>();
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_valid_value_is_read() {
        let parent = parse(VALID.as_bytes()).expect("a parent");
        assert_eq!(parent.trace_id[..3], [0x0a, 0xf7, 0x65]);
        assert_eq!(parent.span_id[5..], [0x20, 0x33, 0x31]);
        assert!(parent.is_sampled);
    }

    #[test]
    fn flags_and_later_versions_are_read() {
        let sampled = |value: &str| parse(value.as_bytes()).map(|parent| parent.is_sampled);
        let (start, _) = VALID.split_at(53);
        assert_eq!(sampled(&format!("{start}00")), Some(false));
        assert_eq!(sampled(&format!("{start}fe")), Some(false));
        assert_eq!(sampled(&format!("{start}ff")), Some(true));
        let later = VALID.replacen("00", "cc", 1);
        assert_eq!(sampled(&later), Some(true));
        assert_eq!(
            sampled(&format!("{later}-what the future brings")),
            Some(true)
        );
        assert_eq!(sampled(&format!(" {VALID} ")), Some(true));
        assert_eq!(sampled(&format!("\u{b}{VALID}")), Some(true));
    }

    #[test]
    fn anything_else_is_refused() {
        for invalid in [
            "",
            "00",
            &VALID[..54],
            &format!("{VALID}-"),
            &format!("{VALID}-more"),
            &format!("{VALID}.more"),
            &format!("  {VALID}"),
            &format!("{VALID}  "),
            &format!("{VALID}0"),
            &VALID.replacen("00", "ff", 1),
            &VALID.replacen("00", "0g", 1),
            &VALID.replacen('f', "F", 1),
            &VALID.replace('-', "_"),
            &format!("{VALID}, {VALID}"),
            &format!("{}-more, {VALID}", VALID.replacen("00", "01", 1)),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        ] {
            assert_eq!(parse(invalid.as_bytes()), None, "{invalid}");
        }
    }
}
