//! The parts of a header block that decide whether the engine responds by itself.

use crate::authority::is_authority;
use crate::credentials::is_analytics;
use crate::head::{self, FactReader, Facts};
use crate::header_lines::{self, PlainHeaders};
use crate::name_filter::NameFilter;
use crate::problem::Problem;

/// The position of a value in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    length: u32,
}

impl Span {
    pub fn of(self, block: &[u8]) -> &[u8] {
        &block[self.start as usize..][..self.length as usize]
    }
}

/// The facts of a valid block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CacheHeaders {
    pub facts: Facts,
    /// True if a header needs the owner.
    pub needs_owner: bool,
    has_host: bool,
    /// True if it has a cookie other than those of analytics.
    pub has_cookie: bool,
    /// True if it has credentials other than cookies.
    pub has_credentials: bool,
    pub has_cache_control: bool,
    pub if_modified_since: bool,
    pub if_none_match: Option<Span>,
    /// The value of the header that carries request ids, if it occurs once.
    pub request_id: Option<Span>,
}

/// Headers that affect the decision.
const DECIDING: NameFilter = NameFilter::of(&[
    "host",
    "range",
    "cookie",
    "api-key",
    "if-range",
    "if-match",
    "x-api-key",
    "x-user-id",
    "x-tenant-id",
    "x-auth-token",
    "cache-control",
    "authorization",
    "if-none-match",
    "x-access-token",
    "if-modified-since",
    "if-unmodified-since",
    "proxy-authorization",
]);

/// The deciding headers, and those that determine the request's end and the fate of its connection.
const KNOWN: NameFilter = DECIDING.and(&head::FRAMING);

/// Reads a block. Returns `None` if it is not valid.
pub(crate) fn read(block: &[u8], id_header: Option<&[u8]>) -> Option<CacheHeaders> {
    let mut reader = Reader {
        headers: CacheHeaders::default(),
        facts: FactReader::default(),
        id_header,
        has_two_ids: false,
    };
    if let Some(places) = PlainHeaders::default().read(block) {
        reader.read_plain(block, places).ok()?;
    } else {
        header_lines::read(block, |place| reader.read(block, &place))?.ok()?;
    }
    reader.finish(block.len())
}

struct Reader<'a> {
    headers: CacheHeaders,
    facts: FactReader,
    id_header: Option<&'a [u8]>,
    has_two_ids: bool,
}

impl Reader<'_> {
    /// Reads the headers of a plain block. Most of them are irrelevant here and are only counted.
    fn read_plain(&mut self, block: &[u8], places: &[header_lines::Place]) -> Result<(), Problem> {
        let id_length = self.id_header.map_or(usize::MAX, <[u8]>::len);
        let (mut skipped, mut counted) = (0, 0);
        for place in places {
            let length = place.name_length();
            if length == id_length || KNOWN.lets_through(length, block[place.name as usize]) {
                self.read(block, place)?;
            } else {
                skipped += 1;
                counted += place.counted();
            }
        }
        self.facts.skip(skipped, counted);
        Ok(())
    }

    fn read(&mut self, block: &[u8], place: &header_lines::Place) -> Result<(), Problem> {
        self.facts.read(block, place)?;
        let name = place.name_of(block);
        let value = Span {
            start: place.value,
            length: place.value_end - place.value,
        };
        if DECIDING.lets_through(name.len(), name[0]) {
            self.headers.add(name, place.value_of(block), value);
        }
        if self
            .id_header
            .is_some_and(|id_header| name.eq_ignore_ascii_case(id_header))
        {
            self.has_two_ids |= self.headers.request_id.is_some();
            self.headers.request_id = Some(value);
        }
        Ok(())
    }

    fn finish(self, end: usize) -> Option<CacheHeaders> {
        let mut headers = self.headers;
        headers.facts = self.facts.finish(end).ok()?;
        if self.has_two_ids {
            headers.request_id = None;
        }
        Some(headers)
    }
}

impl CacheHeaders {
    fn add(&mut self, name: &[u8], value: &[u8], span: Span) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            4 if is("host") => {
                self.needs_owner |= self.has_host || !is_authority(value);
                self.has_host = true;
            }
            5 => self.needs_owner |= is("range"),
            6 => self.has_cookie |= is("cookie") && !is_analytics(value),
            7 => self.has_credentials |= is("api-key"),
            8 => self.needs_owner |= is("if-range") || is("if-match"),
            9 => self.has_credentials |= is("x-api-key") || is("x-user-id"),
            11 => self.has_credentials |= is("x-tenant-id"),
            12 => self.has_credentials |= is("x-auth-token"),
            13 if is("cache-control") => self.has_cache_control = true,
            13 if is("authorization") => self.has_credentials = true,
            13 if is("if-none-match") => {
                self.needs_owner |= self.if_none_match.is_some();
                self.if_none_match = Some(span);
            }
            14 => self.has_credentials |= is("x-access-token"),
            17 => self.if_modified_since |= is("if-modified-since"),
            19 if is("if-unmodified-since") => self.needs_owner = true,
            19 if is("proxy-authorization") => self.has_credentials = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::CREDENTIALS;

    fn headers(lines: &str) -> CacheHeaders {
        let block = format!("Host: a\r\n{lines}\r\n");
        read(block.as_bytes(), Some(b"x-request-id")).expect("a good block")
    }

    #[test]
    fn credentials_are_seen() {
        for name in CREDENTIALS {
            assert!(headers(&format!("{name}: a\r\n")).has_credentials, "{name}");
        }
        assert!(headers("X-API-Key: a\r\n").has_credentials);
        assert!(headers("Cookie: a=b\r\n").has_cookie);
        assert!(!headers("Cookie: _ga=b\r\n").has_cookie);
        assert!(headers("Cookie: _ga=b\r\nCookie: a=b\r\n").has_cookie);
        let plain = headers("User-Agent: a\r\nAccept: b\r\nAccept-Encoding: c\r\n");
        assert!(!plain.has_credentials && !plain.has_cookie && !plain.needs_owner);
    }

    #[test]
    fn conditions_are_seen() {
        for name in ["Range", "If-Range", "If-Match", "If-Unmodified-Since"] {
            assert!(headers(&format!("{name}: a\r\n")).needs_owner, "{name}");
        }
        let block = b"Host: a\r\nIf-None-Match: \"e\"\r\n\r\n";
        let once = read(block, None).expect("a good block");
        assert_eq!(
            once.if_none_match.map(|span| span.of(block)),
            Some(&b"\"e\""[..])
        );
        assert!(headers("If-None-Match: a\r\nIf-None-Match: b\r\n").needs_owner);
        assert!(headers("Cache-Control: no-cache\r\n").has_cache_control);
        assert!(headers("If-Modified-Since: now\r\n").if_modified_since);
    }

    #[test]
    fn a_host_is_there_once_and_names_a_host() {
        let special = |block: &str| {
            let headers = read(block.as_bytes(), None).expect("a good block");
            headers.needs_owner
        };
        assert!(!special("Host: shop.example:80\r\n\r\n"));
        assert!(!special("Accept: a\r\n\r\n"));
        for value in ["shop.example/admin", "a,b", "https://a", "a b", ""] {
            assert!(special(&format!("Host: {value}\r\n\r\n")), "{value}");
        }
        assert!(special("Host: a\r\nHost: a\r\n\r\n"));
    }

    #[test]
    fn the_request_id_is_there_once_or_not_at_all() {
        assert!(headers("X-Request-Id: 1\r\n").request_id.is_some());
        assert!(
            headers("X-Request-Id: 1\r\nX-Request-Id: 2\r\n")
                .request_id
                .is_none()
        );
        assert!(headers("").request_id.is_none());
    }

    #[test]
    fn a_bad_block_is_none() {
        assert!(read(b"Host: a\nX: y\r\n\r\n", None).is_none());
    }
}
