//! The head of a request: request line and header block.
//!
//! A valid head is read fast, and an invalid one is only refused: [`crate::diagnose`] finds the problem.

use memchr::memmem::Finder;

use crate::header_lines::{self, Place};
use crate::method;
use crate::name_filter::NameFilter;
use crate::problem::{Problem, ProblemKind};

/// Limits of a head, or of the block after a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Counted as llhttp's owner does: URL, names and values. A head of this size is too long.
    pub size: usize,
    /// Max headers; `usize::MAX` means unlimited.
    pub headers: usize,
}

/// The facts of a header block about framing and the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The body's length, if announced.
    pub content_length: Option<u64>,
    /// The body is chunked.
    pub chunked: bool,
    /// `Connection` has `close`.
    pub close: bool,
    /// `Connection` has `keep-alive`.
    pub keep_alive: bool,
    /// `Connection` has `upgrade`, and there is an `Upgrade` header.
    pub upgrade: bool,
    /// A `Host` is present.
    pub host: bool,
    /// `Some` if an `Expect` is present: true if it is 100-continue.
    pub expect: Option<bool>,
    /// Counted as llhttp's owner does: names and values without the bytes between them.
    pub counted: usize,
    /// Number of headers.
    pub headers: usize,
}

impl Facts {
    /// Returns true if a block with a URL of this many bytes exceeds the limits.
    pub(crate) fn exceed(&self, url: usize, limits: Limits) -> bool {
        self.counted + url >= limits.size || self.headers > limits.headers
    }
}

/// The request line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// An index in [`crate::METHODS`].
    pub method: u8,
    /// Start of the target.
    pub url_start: usize,
    /// End of the target.
    pub url_end: usize,
    /// The minor version: HTTP/1.0 or HTTP/1.1.
    pub minor: u8,
    /// Start of the header block.
    pub end: usize,
}

/// A complete head: the header block is `line.end..end`, including its empty line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The request line.
    pub line: RequestLine,
    /// End of the head.
    pub end: usize,
}

/// Finds a head in `bytes`, which begin with the method. `None` if it is incomplete or its request line is invalid; the header
/// block is not examined.
#[must_use]
pub fn bounds(bytes: &[u8]) -> Option<Bounds> {
    thread_local! {
        static END: Finder<'static> = Finder::new(b"\r\n\r\n");
    }
    let line = request_line(bytes)?;
    // The CRLF of the request line may be the first half of the end.
    let from = line.end - 2;
    let end = END.with(|finder| finder.find(&bytes[from..]))? + from + 4;
    Some(Bounds { line, end })
}

fn request_line(bytes: &[u8]) -> Option<RequestLine> {
    let space = bytes.iter().take(16).position(|byte| *byte == b' ')?;
    let method = method::find(&bytes[..space])?;
    let mut url_start = space;
    while *bytes.get(url_start)? == b' ' {
        url_start += 1;
    }
    let url_end = url_start + url_length(&bytes[url_start..])?;
    if !target_is_good(method, &bytes[url_start..url_end]) {
        return None;
    }
    let mut version = url_end;
    while *bytes.get(version)? == b' ' {
        version += 1;
    }
    let minor = match bytes.get(version..version + 10)? {
        b"HTTP/1.1\r\n" => 1,
        b"HTTP/1.0\r\n" => 0,
        _ => return None,
    };
    if version == url_end {
        return None;
    }
    Some(RequestLine {
        method,
        url_start,
        url_end,
        minor,
        end: version + 10,
    })
}

/// Returns true for llhttp's URL characters: all printable ones.
pub(crate) fn is_url_char(byte: u8) -> bool {
    (0x21..=0x7e).contains(&byte)
}

fn url_length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().position(|byte| !is_url_char(*byte))?;
    (length > 0).then_some(length)
}

fn target_is_good(method: u8, target: &[u8]) -> bool {
    match target.first() {
        _ if method == method::CONNECT => authority_is_good(target),
        Some(b'/' | b'*') => true,
        Some(byte) if byte.is_ascii_alphabetic() => {
            let schema = target.iter().take_while(|byte| byte.is_ascii_alphabetic());
            let rest = &target[schema.count()..];
            rest.strip_prefix(b"://").is_some_and(authority_is_good)
        }
        _ => false,
    }
}

/// Returns true for the characters that llhttp accepts between `://` and the path.
pub(crate) fn is_server_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.!~*'();:&=+$,%@[]".contains(&byte)
}

fn authority_is_good(rest: &[u8]) -> bool {
    let server = rest.iter().take_while(|byte| is_server_char(**byte));
    let (server, rest) = rest.split_at(server.count());
    !server.windows(2).any(|pair| pair == b"@@") && matches!(rest.first(), None | Some(b'/' | b'?'))
}

/// Returns the max bytes of a head whose URL, names and values are limited to `limit`. White space before a value is not counted
/// and has no limit of its own; the shortest counted header takes four bytes.
pub(crate) fn max_size(limit: usize) -> usize {
    limit.saturating_mul(4).saturating_add(16 * 1024)
}

/// Reads a header block that ends in its empty line, and passes the headers to `each` with their offsets.
///
/// # Errors
/// `None` if [`crate::diagnose`] has to find the problem, otherwise a problem of framing, with its position in the block.
pub fn read_block(
    block: &[u8],
    mut each: impl FnMut(&[u8], usize, &[u8], usize),
) -> Result<Facts, Option<Problem>> {
    read_with(FactReader::default(), block, |place| {
        let (name, value) = (place.name_of(block), place.value_of(block));
        each(name, place.name as usize, value, place.value as usize);
    })
}

fn read_with(
    mut reader: FactReader,
    block: &[u8],
    mut each: impl FnMut(Place),
) -> Result<Facts, Option<Problem>> {
    let read = header_lines::read(block, |place| {
        reader.read(block, &place)?;
        each(place);
        Ok(())
    });
    read.ok_or(None)?.map_err(Some)?;
    reader.finish(block.len()).map_err(Some)
}

/// Headers that affect framing and the connection.
pub(crate) const FRAMING: NameFilter = NameFilter::of(&[
    "host",
    "expect",
    "upgrade",
    "connection",
    "proxy-connection",
    "content-length",
    "transfer-encoding",
]);

#[derive(Default)]
pub(crate) struct FactReader {
    facts: Facts,
    connection_upgrade: bool,
    upgrade_header: bool,
    encoding: bool,
}

impl FactReader {
    pub(crate) fn read(&mut self, block: &[u8], place: &Place) -> Result<(), Problem> {
        self.facts.headers += 1;
        self.facts.counted += place.counted();
        if FRAMING.lets_through(place.name_length(), block[place.name as usize]) {
            self.read_framing(block, place.name_of(block), place)
        } else {
            Ok(())
        }
    }

    /// Same as this many `read` calls for headers irrelevant to framing and connection.
    pub(crate) fn skip(&mut self, headers: usize, counted: usize) {
        self.facts.headers += headers;
        self.facts.counted += counted;
    }

    fn read_framing(&mut self, block: &[u8], name: &[u8], place: &Place) -> Result<(), Problem> {
        let value = place.value_of(block);
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => self.facts.host = true,
            6 if name.eq_ignore_ascii_case(b"expect") => {
                let asked = has_word(value, b"100-continue");
                self.facts.expect = Some(asked || self.facts.expect == Some(true));
            }
            7 if name.eq_ignore_ascii_case(b"upgrade") => self.upgrade_header |= !value.is_empty(),
            10 if name.eq_ignore_ascii_case(b"connection") => self.read_connection(value),
            16 if name.eq_ignore_ascii_case(b"proxy-connection") => self.read_connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                self.read_length(value, place)?;
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                self.read_encoding(&block[place.value as usize..place.end as usize], place)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn read_connection(&mut self, value: &[u8]) {
        for token in value.split(|byte| *byte == b',') {
            let token = token.trim_ascii();
            self.facts.close |= token.eq_ignore_ascii_case(b"close");
            self.facts.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
            self.connection_upgrade |= token.eq_ignore_ascii_case(b"upgrade");
        }
    }

    fn read_length(&mut self, value: &[u8], place: &Place) -> Result<(), Problem> {
        let colon = place.colon as usize;
        if self.encoding {
            return Err(Problem::new(ProblemKind::LengthWithEncoding, colon));
        }
        if value.is_empty() {
            return Err(Problem::new(
                ProblemKind::LengthEmpty,
                place.end as usize + 2,
            ));
        }
        if self.facts.content_length.is_some() {
            return Err(Problem::new(ProblemKind::LengthTwice, place.value as usize));
        }
        let mut length = 0_u64;
        for (index, byte) in value.iter().enumerate() {
            if !byte.is_ascii_digit() {
                return Err(Problem::new(
                    ProblemKind::LengthChar,
                    place.value as usize + index,
                ));
            }
            length = length
                .checked_mul(10)
                .and_then(|length| length.checked_add(u64::from(byte - b'0')))
                .ok_or(Problem::new(
                    ProblemKind::LengthOverflow,
                    place.value as usize + index,
                ))?;
        }
        self.facts.content_length = Some(length);
        Ok(())
    }

    fn read_encoding(&mut self, value: &[u8], place: &Place) -> Result<(), Problem> {
        if self.facts.content_length.is_some() {
            let colon = place.colon as usize;
            return Err(Problem::new(ProblemKind::EncodingWithLength, colon));
        }
        if value.is_empty() {
            return Err(Problem::new(
                ProblemKind::EncodingEmpty,
                place.end as usize + 2,
            ));
        }
        self.encoding = true;
        let mut at = place.value as usize;
        for token in value.split(|byte| *byte == b',') {
            if self.facts.chunked {
                return Err(Problem::new(ProblemKind::EncodingValue, at));
            }
            self.facts.chunked = is_chunked(token);
            at += token.len() + 1;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self, end: usize) -> Result<Facts, Problem> {
        // Other codings may precede chunked, but chunked must come last, or the body's end is unknown.
        if self.encoding && !self.facts.chunked {
            return Err(Problem::new(ProblemKind::Encoding, end));
        }
        self.facts.upgrade = self.connection_upgrade && self.upgrade_header;
        Ok(self.facts)
    }
}

/// Reads the block after the last chunk.
///
/// # Errors
/// As [`read_block`].
pub fn read_trailers(
    block: &[u8],
    mut each: impl FnMut(&[u8], usize, &[u8], usize),
) -> Result<Facts, Option<Problem>> {
    let reader = FactReader {
        encoding: true,
        facts: Facts {
            chunked: true,
            ..Facts::default()
        },
        ..FactReader::default()
    };
    read_with(reader, block, |place| {
        let (name, value) = (place.name_of(block), place.value_of(block));
        each(name, place.name as usize, value, place.value as usize);
    })
}

/// Returns true if a token of `Transfer-Encoding` is `chunked`, including the blanks around it. llhttp takes a tab before it for
/// white space and one after it for a part of the token.
pub(crate) fn is_chunked(token: &[u8]) -> bool {
    let blanks = token.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let token = &token[blanks.count()..];
    let length = token
        .iter()
        .rposition(|byte| *byte != b' ')
        .map_or(0, |last| last + 1);
    token[..length].eq_ignore_ascii_case(b"chunked")
}

/// Returns true if the word occurs anywhere in the value, but not as a part of a longer one: Node searches the same way.
fn has_word(value: &[u8], word: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    value
        .windows(word.len())
        .enumerate()
        .any(|(start, window)| {
            let before = start.checked_sub(1).and_then(|before| value.get(before));
            let behind = value.get(start + word.len());
            window.eq_ignore_ascii_case(word)
                && !before.is_some_and(is_part)
                && !behind.is_some_and(is_part)
        })
}
