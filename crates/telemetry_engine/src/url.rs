//! Request targets, read as `new URL(target, 'http://host')` and `URLSearchParams` read them.

use std::borrow::Cow;

use crate::host::hostname;
use crate::latin1::utf8;

const REDACTED: &str = "REDACTED";

/// Path and query of a request target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    pub path: Cow<'a, str>,
    /// With redacted values; `None` without a query.
    pub query: Option<String>,
}

/// Returns `None` if the target is not a URL.
pub(crate) fn parse<'a>(target: &'a [u8], redacted: &[String]) -> Option<Target<'a>> {
    let end = memchr::memchr(b'#', target).unwrap_or(target.len());
    let target = &target[..end];
    let start = memchr::memchr(b'?', target).unwrap_or(target.len());
    let (path, query) = target.split_at(start);
    let path = match utf8(path) {
        plain if is_plain(path) => plain,
        other => Cow::Owned(normalized(&other)?),
    };
    let query = query.get(1..).filter(|query| !query.is_empty());
    Some(Target {
        path,
        query: query.map(|query| normalized_query(query, redacted)),
    })
}

/// True if a path is the same as a URL: no dots to resolve, nothing to encode.
fn is_plain(path: &[u8]) -> bool {
    let mut previous = 0;
    let is_same = path.iter().all(|byte| {
        let is_same = match byte {
            b'/' => true,
            b'.' => previous != b'/',
            b'%' => previous != b'/' && previous != b'.',
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => true,
            b'-' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' => true,
            b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@' | b'|' | b'[' | b']' => true,
            _ => false,
        };
        previous = *byte;
        is_same
    });
    is_same && path.first() == Some(&b'/') && path.get(1) != Some(&b'/')
}

/// The path of any target before its query.
fn normalized(target: &str) -> Option<String> {
    let slashes = target.replace('\\', "/");
    let path = match slashes.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => after_authority(rest.trim_start_matches('/'))?,
        _ => match slashes.strip_prefix("//") {
            Some(rest) => after_authority(rest.trim_start_matches('/'))?,
            None => slashes.strip_prefix('/').unwrap_or(&slashes),
        },
    };
    let mut segments: Vec<&str> = Vec::new();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part.to_ascii_lowercase().replace("%2e", ".").as_str() {
            "." if is_last => segments.push(""),
            "." => {}
            ".." => {
                segments.pop();
                if is_last {
                    segments.push("");
                }
            }
            _ => segments.push(part),
        }
    }
    let mut out = String::with_capacity(path.len() + 1);
    for segment in segments {
        out.push('/');
        for character in segment.chars() {
            match character {
                '"' | '`' | '{' | '}' | '<' | '>' | '^' | ' ' | '\0'..='\x1f' | '\x7f'.. => {
                    let mut bytes = [0; 4];
                    for byte in character.encode_utf8(&mut bytes).bytes() {
                        push_encoded(&mut out, byte);
                    }
                }
                _ => out.push(character),
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    Some(out)
}

fn is_scheme(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Returns the path after an authority, without its first slash; `None` if the authority is invalid.
fn after_authority(rest: &str) -> Option<&str> {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    hostname(authority)?;
    Some(path)
}

/// Parses parameters and writes them again; values of `redacted` are hidden.
fn normalized_query(query: &[u8], redacted: &[String]) -> String {
    let mut out = String::with_capacity(query.len() + 8);
    let mut hidden: Vec<bool> = vec![false; redacted.len()];
    // `URLSearchParams` takes it for the one that begins a query.
    let query = query.strip_prefix(b"?").unwrap_or(query);
    for part in query.split(|byte| *byte == b'&') {
        if part.is_empty() {
            continue;
        }
        let at = memchr::memchr(b'=', part);
        let name = decoded(&part[..at.unwrap_or(part.len())]);
        let index = redacted.iter().position(|each| **each == *name);
        if let Some(index) = index
            && std::mem::replace(&mut hidden[index], true)
        {
            continue;
        }
        if !out.is_empty() {
            out.push('&');
        }
        push_parameter(&mut out, &name);
        out.push('=');
        match (index, at) {
            (Some(_), _) => out.push_str(REDACTED),
            (None, Some(at)) => push_parameter(&mut out, &decoded(&part[at + 1..])),
            (None, None) => {}
        }
    }
    out
}

fn is_unchanged(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'*' | b'-' | b'.' | b'_')
}

fn decoded(part: &[u8]) -> Cow<'_, str> {
    if part.iter().all(|byte| is_unchanged(*byte)) {
        return utf8(part);
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut at = 0;
    while at < part.len() {
        let hex = |offset: usize| {
            let digit = char::from(*part.get(at + offset)?).to_digit(16)?;
            Some(digit as u8)
        };
        match (part[at], hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(high << 4 | low);
                at += 2;
            }
            (b'+', ..) => bytes.push(b' '),
            (byte, ..) => {
                let mut utf8 = [0; 4];
                let character = char::from(byte).encode_utf8(&mut utf8);
                bytes.extend_from_slice(character.as_bytes());
            }
        }
        at += 1;
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn push_parameter(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            byte if is_unchanged(byte) => out.push(byte.into()),
            byte => push_encoded(out, byte),
        }
    }
}

fn push_encoded(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(DIGITS[usize::from(byte >> 4)].into());
    out.push(DIGITS[usize::from(byte & 15)].into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &str, path: &str, query: Option<&str>) {
        let redacted = ["sig".to_owned(), "X-Amz-Signature".to_owned()];
        let parsed = parse(target.as_bytes(), &redacted).expect(target);
        assert_eq!(parsed.path, path, "{target}");
        assert_eq!(parsed.query.as_deref(), query, "{target}");
    }

    // Expected values are those of Node 26.
    #[test]
    fn paths_are_those_of_urls() {
        check("/", "/", None);
        check("/users/1", "/users/1", None);
        check("/a//b/", "/a//b/", None);
        check("/a/./b", "/a/b", None);
        check("/a/../b", "/b", None);
        check("/a/b/..", "/a/", None);
        check("/../..", "/", None);
        check("/%2e%2E/x", "/x", None);
        check("/.well-known/x", "/.well-known/x", None);
        check("/a/.%2e/b", "/b", None);
        check("/%41", "/%41", None);
        check("/a b\"<>`{}^|", "/a%20b%22%3C%3E%60%7B%7D%5E|", None);
        check("/a\\b", "/a/b", None);
        check("/a#b?c", "/a", None);
        check("*", "/*", None);
        check("http://other.example/x?y=1", "/x", Some("y=1"));
        check("//other.example/x", "/x", None);
        check("http://other.example", "/", None);
        check("?a=1", "/", Some("a=1"));
    }

    #[test]
    fn bytes_above_ascii_are_characters() {
        let parsed = parse(b"/\xc3\xa9?q=\xe9", &[]).expect("a target");
        assert_eq!(parsed.path, "/%C3%83%C2%A9");
        assert_eq!(parsed.query.as_deref(), Some("q=%C3%A9"));
    }

    #[test]
    fn targets_without_a_valid_authority_are_none() {
        assert_eq!(parse(b"//", &[]), None);
        assert_eq!(parse(b"//a b/", &[]), None);
    }

    #[test]
    fn queries_are_written_again() {
        check("/?a=1&b=2", "/", Some("a=1&b=2"));
        check("/?a", "/", Some("a="));
        check("/?", "/", None);
        check("/?&", "/", Some(""));
        check("/???a=1", "/", Some("%3Fa=1"));
        check("/?a=1&&b=2", "/", Some("a=1&b=2"));
        check("/?a=b%20c+d", "/", Some("a=b+c+d"));
        check("/?a=~'()/:", "/", Some("a=%7E%27%28%29%2F%3A"));
        check("/?a=%zz%", "/", Some("a=%25zz%25"));
        check("/?a=%ff", "/", Some("a=%EF%BF%BD"));
        check("/?a==1", "/", Some("a=%3D1"));
        check("/?=1", "/", Some("=1"));
    }

    #[test]
    fn values_of_some_parameters_are_hidden() {
        check("/?sig=secret&a=1", "/", Some("sig=REDACTED&a=1"));
        check("/?sig=1&a=1&sig=2", "/", Some("sig=REDACTED&a=1"));
        check("/?sig", "/", Some("sig=REDACTED"));
        check("/?%73ig=1", "/", Some("sig=REDACTED"));
        check("/?Sig=1", "/", Some("Sig=1"));
        check("/?X-Amz-Signature=1", "/", Some("X-Amz-Signature=REDACTED"));
    }
}
