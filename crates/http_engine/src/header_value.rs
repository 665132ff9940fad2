//! Reads single values from a header block that is known to be valid.

/// The value a block has for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum One<'a> {
    Missing,
    Value(&'a [u8]),
    Twice,
}

impl<'a> One<'a> {
    fn and(self, value: &'a [u8]) -> Self {
        match self {
            Self::Missing => Self::Value(value),
            _ => Self::Twice,
        }
    }
}

/// The value of a header, by its name in lower case.
pub(crate) fn header<'a>(block: &'a [u8], name: &[u8]) -> One<'a> {
    let mut found = One::Missing;
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

/// The value of a cookie, as it was sent.
pub(crate) fn cookie<'a>(cookies: &'a [u8], name: &[u8]) -> One<'a> {
    let mut found = One::Missing;
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
        assert_eq!(header(BLOCK, b"host"), One::Value(b"a"));
        assert_eq!(header(BLOCK, b"x-a"), One::Value(b"b c"));
        assert_eq!(header(BLOCK, b"x-ab"), One::Value(b"d"));
        assert_eq!(header(BLOCK, b"x-no"), One::Value(b""));
        assert_eq!(header(BLOCK, b"x"), One::Missing);
        assert_eq!(header(BLOCK, b"x-two"), One::Twice);
    }

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        let cookies = b"a=1; sid = x=y ;sid2=3;b=1; b=2; lone";
        assert_eq!(cookie(cookies, b"a"), One::Value(b"1"));
        assert_eq!(cookie(cookies, b"sid"), One::Value(b"x=y"));
        assert_eq!(cookie(cookies, b"b"), One::Twice);
        assert_eq!(cookie(cookies, b"lone"), One::Missing);
        assert_eq!(cookie(cookies, b"A"), One::Missing);
    }
}
