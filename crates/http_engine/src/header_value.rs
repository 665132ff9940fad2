//! Reads single values from a header block known to be valid.

/// The value of a name in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SingleValue<'a> {
    Missing,
    Value(&'a [u8]),
    Twice,
}

impl<'a> SingleValue<'a> {
    fn and(self, value: &'a [u8]) -> Self {
        match self {
            Self::Missing => Self::Value(value),
            _ => Self::Twice,
        }
    }
}

/// Returns the value of a header, by its name in lower case.
pub(crate) fn header<'a>(block: &'a [u8], name: &[u8]) -> SingleValue<'a> {
    let mut found = SingleValue::Missing;
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', block) {
        let line = &block[start..end];
        start = end + 1;
        if line.get(name.len()) == Some(&b':') && line[..name.len()].eq_ignore_ascii_case(name) {
            found = found.and(trim(&line[name.len() + 1..]));
        }
    }
    found
}

/// Returns the value of a cookie, as sent.
pub(crate) fn cookie<'a>(cookies: &'a [u8], name: &[u8]) -> SingleValue<'a> {
    let mut found = SingleValue::Missing;
    for pair in cookies.split(|byte| *byte == b';') {
        if let Some(at) = memchr::memchr(b'=', pair)
            && trim(&pair[..at]) == name
        {
            found = found.and(trim(&pair[at + 1..]));
        }
    }
    found
}

pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let start = bytes.iter().take_while(|byte| is_blank(byte)).count();
    let bytes = &bytes[start..];
    let blanks = bytes.iter().rev().take_while(|byte| is_blank(byte)).count();
    &bytes[..bytes.len() - blanks]
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &[u8] =
        b"Host: a\r\nX-A:  b c \t\r\nX-AB: d\r\nx-two: 1\r\nX-Two: 2\r\nX-No:\r\n\r\n";

    #[test]
    fn a_header_is_found_by_its_whole_name() {
        assert_eq!(header(BLOCK, b"host"), SingleValue::Value(b"a"));
        assert_eq!(header(BLOCK, b"x-a"), SingleValue::Value(b"b c"));
        assert_eq!(header(BLOCK, b"x-ab"), SingleValue::Value(b"d"));
        assert_eq!(header(BLOCK, b"x-no"), SingleValue::Value(b""));
        assert_eq!(header(BLOCK, b"x"), SingleValue::Missing);
        assert_eq!(header(BLOCK, b"x-two"), SingleValue::Twice);
    }

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        let cookies = b"a=1; sid = x=y ;sid2=3;b=1; b=2; lone";
        assert_eq!(cookie(cookies, b"a"), SingleValue::Value(b"1"));
        assert_eq!(cookie(cookies, b"sid"), SingleValue::Value(b"x=y"));
        assert_eq!(cookie(cookies, b"b"), SingleValue::Twice);
        assert_eq!(cookie(cookies, b"lone"), SingleValue::Missing);
        assert_eq!(cookie(cookies, b"A"), SingleValue::Missing);
    }
}
