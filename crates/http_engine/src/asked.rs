//! The parts of a header block that decide whether the engine answers by itself.

use crate::authority::is_authority;
use crate::credentials::is_analytics;
use crate::head::{self, FactReader, Facts};
use crate::header_lines::{self, Few};
use crate::name_filter::NameFilter;
use crate::problem::Problem;

/// Where a value is in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    start: u32,
    length: u32,
}

impl Place {
    pub fn of(self, block: &[u8]) -> &[u8] {
        &block[self.start as usize..][..self.length as usize]
    }
}

/// A valid block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub facts: Facts,
    /// It has a header that only the owner can act on.
    pub is_special: bool,
    /// It has a `Host`.
    has_host: bool,
    /// It has a cookie that is not one of analytics.
    pub has_cookie: bool,
    /// It has credentials other than cookies.
    pub has_credentials: bool,
    pub has_cache_control: bool,
    pub if_modified_since: bool,
    pub if_none_match: Option<Place>,
    /// The header whose value the server asked for, if it came once.
    pub noted: Option<Place>,
}

/// The headers that decide.
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

/// And those that say where the request ends, and what becomes of its connection.
const KNOWN: NameFilter = DECIDING.and(&head::FRAMING);

/// Reads a block. `None` if it is not valid.
pub(crate) fn read(block: &[u8], noted: Option<&[u8]>) -> Option<Asked> {
    let mut reader = Reader {
        asked: Asked::default(),
        facts: FactReader::default(),
        noted,
        is_noted_twice: false,
    };
    if let Some(places) = Few::default().read(block) {
        reader.read_few(block, places).ok()?;
    } else {
        header_lines::read(block, |place| reader.read(block, &place))?.ok()?;
    }
    reader.finish(block.len())
}

struct Reader<'a> {
    asked: Asked,
    facts: FactReader,
    noted: Option<&'a [u8]>,
    is_noted_twice: bool,
}

impl Reader<'_> {
    /// Most headers say nothing that is asked for here.
    fn read_few(&mut self, block: &[u8], places: &[header_lines::Place]) -> Result<(), Problem> {
        let noted_length = self.noted.map_or(usize::MAX, <[u8]>::len);
        let (mut skipped, mut counted) = (0, 0);
        for place in places {
            let length = place.name_length();
            if length == noted_length || KNOWN.lets_through(length, block[place.name as usize]) {
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
        let value = Place {
            start: place.value,
            length: place.value_end - place.value,
        };
        if DECIDING.lets_through(name.len(), name[0]) {
            self.asked.add(name, place.value_of(block), value);
        }
        if self
            .noted
            .is_some_and(|noted| name.eq_ignore_ascii_case(noted))
        {
            self.is_noted_twice |= self.asked.noted.is_some();
            self.asked.noted = Some(value);
        }
        Ok(())
    }

    fn finish(self, end: usize) -> Option<Asked> {
        let mut asked = self.asked;
        asked.facts = self.facts.finish(end).ok()?;
        if self.is_noted_twice {
            asked.noted = None;
        }
        Some(asked)
    }
}

impl Asked {
    fn add(&mut self, name: &[u8], value: &[u8], place: Place) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            4 if is("host") => {
                self.is_special |= self.has_host || !is_authority(value);
                self.has_host = true;
            }
            5 => self.is_special |= is("range"),
            6 => self.has_cookie |= is("cookie") && !is_analytics(value),
            7 => self.has_credentials |= is("api-key"),
            8 => self.is_special |= is("if-range") || is("if-match"),
            9 => self.has_credentials |= is("x-api-key") || is("x-user-id"),
            11 => self.has_credentials |= is("x-tenant-id"),
            12 => self.has_credentials |= is("x-auth-token"),
            13 if is("cache-control") => self.has_cache_control = true,
            13 if is("authorization") => self.has_credentials = true,
            13 if is("if-none-match") => {
                self.is_special |= self.if_none_match.is_some();
                self.if_none_match = Some(place);
            }
            14 => self.has_credentials |= is("x-access-token"),
            17 => self.if_modified_since |= is("if-modified-since"),
            19 if is("if-unmodified-since") => self.is_special = true,
            19 if is("proxy-authorization") => self.has_credentials = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::CREDENTIALS;

    fn asked(lines: &str) -> Asked {
        let block = format!("Host: a\r\n{lines}\r\n");
        read(block.as_bytes(), Some(b"x-request-id")).expect("a good block")
    }

    #[test]
    fn credentials_are_seen() {
        for name in CREDENTIALS {
            assert!(asked(&format!("{name}: a\r\n")).has_credentials, "{name}");
        }
        assert!(asked("X-API-Key: a\r\n").has_credentials);
        assert!(asked("Cookie: a=b\r\n").has_cookie);
        assert!(!asked("Cookie: _ga=b\r\n").has_cookie);
        assert!(asked("Cookie: _ga=b\r\nCookie: a=b\r\n").has_cookie);
        let plain = asked("User-Agent: a\r\nAccept: b\r\nAccept-Encoding: c\r\n");
        assert!(!plain.has_credentials && !plain.has_cookie && !plain.is_special);
    }

    #[test]
    fn conditions_are_seen() {
        for name in ["Range", "If-Range", "If-Match", "If-Unmodified-Since"] {
            assert!(asked(&format!("{name}: a\r\n")).is_special, "{name}");
        }
        let block = b"Host: a\r\nIf-None-Match: \"e\"\r\n\r\n";
        let once = read(block, None).expect("a good block");
        assert_eq!(
            once.if_none_match.map(|place| place.of(block)),
            Some(&b"\"e\""[..])
        );
        assert!(asked("If-None-Match: a\r\nIf-None-Match: b\r\n").is_special);
        assert!(asked("Cache-Control: no-cache\r\n").has_cache_control);
        assert!(asked("If-Modified-Since: now\r\n").if_modified_since);
    }

    #[test]
    fn a_host_is_there_once_and_names_a_host() {
        let special = |block: &str| {
            let asked = read(block.as_bytes(), None).expect("a good block");
            asked.is_special
        };
        assert!(!special("Host: shop.example:80\r\n\r\n"));
        assert!(!special("Accept: a\r\n\r\n"));
        for value in ["shop.example/admin", "a,b", "https://a", "a b", ""] {
            assert!(special(&format!("Host: {value}\r\n\r\n")), "{value}");
        }
        assert!(special("Host: a\r\nHost: a\r\n\r\n"));
    }

    #[test]
    fn the_noted_header_is_there_once_or_not_at_all() {
        assert!(asked("X-Request-Id: 1\r\n").noted.is_some());
        assert!(
            asked("X-Request-Id: 1\r\nX-Request-Id: 2\r\n")
                .noted
                .is_none()
        );
        assert!(asked("").noted.is_none());
    }

    #[test]
    fn a_bad_block_is_none() {
        assert!(read(b"Host: a\nX: y\r\n\r\n", None).is_none());
    }
}
