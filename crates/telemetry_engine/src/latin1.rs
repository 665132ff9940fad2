//! Header values: Node reads each byte as a character.

use std::borrow::Cow;

/// Returns the characters in UTF-8.
pub(crate) fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.is_ascii() => Cow::Borrowed(text),
        _ => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Returns the first `limit` UTF-16 code units; of a character of two units that is cut, none.
pub(crate) fn truncated(text: &str, limit: u32) -> &str {
    if text.len() <= limit as usize {
        return text;
    }
    let mut units = 0;
    let end = text.char_indices().find_map(|(at, character)| {
        units += character.len_utf16();
        (units > limit as usize).then_some(at)
    });
    &text[..end.unwrap_or(text.len())]
}

/// Removes the white space around a header value.
pub(crate) fn trimmed(value: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let start = value.iter().position(|byte| !is_space(byte));
    let end = value.iter().rposition(|byte| !is_space(byte));
    match (start, end) {
        (Some(start), Some(end)) => &value[start..=end],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_characters() {
        assert_eq!(utf8(b"\xfc \xdf"), "\u{fc} \u{df}");
        assert_eq!(utf8(b"plain"), "plain");
    }

    #[test]
    fn texts_end_at_their_limit() {
        assert_eq!(truncated("abc", u32::MAX), "abc");
        assert_eq!(truncated("abc", 2), "ab");
        assert_eq!(truncated("\u{fc}\u{fc}\u{fc}", 2), "\u{fc}\u{fc}");
        assert_eq!(truncated("\u{fc}", 1), "\u{fc}");
        assert_eq!(truncated("a\u{1f600}b", 2), "a");
        assert_eq!(truncated("abc", 0), "");
    }

    #[test]
    fn white_space_around_values_is_not_theirs() {
        assert_eq!(trimmed(b" \ta b\t\r"), b"a b");
        assert_eq!(trimmed(b" \r"), b"");
    }
}
