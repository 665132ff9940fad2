//! A response that the engine sends by itself, as bytes.

use std::hash::{BuildHasher, Hasher};

use crate::header_value::trim;

/// Status, headers and body. Each line ends with CRLF; headers that differ with every request are omitted.
#[derive(Debug)]
pub struct StoredResponse {
    /// `head`, `tail`, `not_modified` and `etag` in one allocation.
    text: Box<[u8]>,
    ends: [u32; 3],
    body: Box<[u8]>,
    status: u16,
    line: u32,
    has_last_modified: bool,
    route: u32,
    /// The ring whose maker knows the route by its number, 0 for none.
    ring: u32,
}

/// The parts of a [`StoredResponse`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ResponseParts<'a> {
    /// The status line and the headers before `Date`.
    pub head: &'a [u8],
    /// The headers after `Connection` and `Keep-Alive`.
    pub tail: &'a [u8],
    /// The status line and headers of its 304.
    pub not_modified: &'a [u8],
    /// The ETag, empty without one.
    pub etag: &'a [u8],
    /// The body.
    pub body: &'a [u8],
    /// The status code.
    pub status: u16,
    /// Number of the log line written for it; 0 for none.
    pub line: u32,
    /// True if it has a `Last-Modified`.
    pub has_last_modified: bool,
    /// Number of the route of its requests, for an observer; 0 for none.
    pub route: u32,
}

impl StoredResponse {
    /// Copies the parts.
    #[must_use]
    pub fn new(parts: ResponseParts<'_>) -> Self {
        let texts = [parts.head, parts.tail, parts.not_modified];
        let mut end = 0;
        let ends = texts.map(|text| {
            end += text.len() as u32;
            end
        });
        Self {
            text: [parts.head, parts.tail, parts.not_modified, parts.etag]
                .concat()
                .into(),
            ends,
            body: parts.body.into(),
            status: parts.status,
            line: parts.line,
            has_last_modified: parts.has_last_modified,
            route: parts.route,
            ring: 0,
        }
    }

    /// Sets the ring to which its route's number belongs.
    pub(crate) fn set_ring(&mut self, ring: u32) {
        self.ring = ring;
    }

    /// Returns the number of its route in a ring: other threads share the response, and number their routes themselves.
    pub(crate) fn route_in(&self, ring: u32) -> u32 {
        if self.ring == ring { self.route } else { 0 }
    }

    fn part(&self, from: usize, to: usize) -> &[u8] {
        let place = |index: usize| match index {
            0 => 0,
            4 => self.text.len(),
            index => self.ends[index - 1] as usize,
        };
        &self.text[place(from)..place(to)]
    }

    pub(crate) fn head(&self) -> &[u8] {
        self.part(0, 1)
    }

    pub(crate) fn tail(&self) -> &[u8] {
        self.part(1, 2)
    }

    pub(crate) fn not_modified(&self) -> &[u8] {
        self.part(2, 3)
    }

    fn etag(&self) -> &[u8] {
        self.part(3, 4)
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    pub(crate) fn has_last_modified(&self) -> bool {
        self.has_last_modified
    }

    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.body.len()
    }

    /// Returns a hash of all its bytes.
    pub(crate) fn digest(&self, seed: &impl BuildHasher) -> u64 {
        let mut hasher = seed.build_hasher();
        for end in self.ends {
            hasher.write_u32(end);
        }
        hasher.write(&self.text);
        hasher.write(&self.body);
        hasher.finish()
    }

    /// Returns true if `If-None-Match` names its ETag, compared weakly (RFC 9110, section 13.1.2).
    pub(crate) fn is_named_by(&self, if_none_match: &[u8]) -> bool {
        let own = strong(self.etag());
        if own.is_empty() {
            return false;
        }
        trim(if_none_match) == b"*" || tags(if_none_match).any(|tag| strong(tag) == own)
    }
}

fn strong(etag: &[u8]) -> &[u8] {
    etag.strip_prefix(b"W/").unwrap_or(etag)
}

/// Splits a list of entity tags. A comma inside quotes belongs to the tag.
fn tags(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut is_quoted = false;
    list.split(move |byte| {
        is_quoted ^= *byte == b'"';
        *byte == b',' && !is_quoted
    })
    .map(trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_named(etag: &str, list: &str) -> bool {
        let response = StoredResponse::new(ResponseParts {
            etag: etag.as_bytes(),
            ..ResponseParts::default()
        });
        response.is_named_by(list.as_bytes())
    }

    #[test]
    fn an_etag_is_found_in_a_list_and_compared_weakly() {
        assert!(is_named("\"a\"", "\"a\""));
        assert!(is_named("W/\"a\"", "\"a\""));
        assert!(is_named("\"a\"", "\"b\", W/\"a\""));
        assert!(is_named("\"a,b\"", "\"x\",\"a,b\" "));
        assert!(is_named("\"a\"", " * "));
        assert!(!is_named("\"a\"", "\"a,b\""));
        assert!(!is_named("\"a\"", "a"));
        assert!(!is_named("", "*"));
        assert!(!is_named("", ""));
    }

    #[test]
    fn the_parts_are_what_they_were() {
        let response = StoredResponse::new(ResponseParts {
            head: b"head",
            tail: b"",
            not_modified: b"304",
            etag: b"\"e\"",
            body: b"body",
            ..ResponseParts::default()
        });
        assert_eq!(
            [
                response.head(),
                response.tail(),
                response.not_modified(),
                response.etag(),
                response.body()
            ],
            [&b"head"[..], b"", b"304", b"\"e\"", b"body"]
        );
    }
}
