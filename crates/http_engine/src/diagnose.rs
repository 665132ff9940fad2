//! Says what is wrong with a head, byte by byte, in llhttp's words and at llhttp's positions.
//!
//! Runs on heads that were refused and on those that are not complete yet, never on a good one.

use crate::head::{is_server_char, is_url_char};
use crate::method::{CONNECT, FOREIGN, METHODS};
use crate::problem::{Problem, What};

const PREFACE: &[u8] = b"\r\n\r\nSM\r\n\r\n";

/// The first problem of a head of which `bytes` are the beginning; `None` when they are good as far as they go. What
/// `counted` reaches `limit` is too long.
#[must_use]
pub fn head(bytes: &[u8], limit: usize) -> Option<Problem> {
    let mut reader = Reader::new(bytes, limit);
    match reader.start_line().and_then(|()| reader.headers()) {
        Err(Stop::Problem(problem)) => Some(problem),
        Ok(()) | Err(Stop::End) => None,
    }
}

/// As [`head`], for a header block alone: the trailers of a chunked body.
#[must_use]
pub fn block(bytes: &[u8], limit: usize) -> Option<Problem> {
    let mut reader = Reader::new(bytes, limit);
    reader.framing.encoding = true;
    reader.framing.chunked = true;
    match reader.headers() {
        Err(Stop::Problem(problem)) => Some(problem),
        Ok(()) | Err(Stop::End) => None,
    }
}

enum Stop {
    End,
    Problem(Problem),
}

type Step<T = ()> = Result<T, Stop>;

#[derive(Default)]
struct Framing {
    length: bool,
    encoding: bool,
    chunked: bool,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    counted: usize,
    limit: usize,
    framing: Framing,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], limit: usize) -> Self {
        Self {
            bytes,
            at: 0,
            counted: 0,
            limit,
            framing: Framing::default(),
        }
    }

    fn peek(&self) -> Step<u8> {
        self.bytes.get(self.at).copied().ok_or(Stop::End)
    }

    fn fail<T>(&self, what: What) -> Step<T> {
        Err(Stop::Problem(Problem::new(what, self.at)))
    }

    /// As `fail`, where llhttp has taken the byte before it complains.
    fn fail_behind<T>(&mut self, what: What) -> Step<T> {
        self.skip();
        self.fail(what)
    }

    /// One byte further, whatever it is.
    fn skip(&mut self) {
        self.at += 1;
    }

    /// Takes `byte` or fails.
    fn expect(&mut self, byte: u8, what: What) -> Step {
        if self.peek()? != byte {
            return self.fail(what);
        }
        self.skip();
        Ok(())
    }

    fn take_while(&mut self, good: impl Fn(u8) -> bool) -> Step<&'a [u8]> {
        let start = self.at;
        while good(self.peek()?) {
            self.skip();
        }
        Ok(&self.bytes[start..self.at])
    }

    fn start_line(&mut self) -> Step {
        let method = self.method()?;
        self.expect(b' ', What::MethodSpace)?;
        self.take_while(|byte| byte == b' ')?;
        let connect = method == METHODS[usize::from(CONNECT)];
        self.target(connect)?;
        self.take_while(|byte| byte == b' ')?;
        for expected in b"HTTP" {
            self.expect(*expected, What::Protocol)?;
        }
        if FOREIGN.contains(&method) {
            return self.fail(What::ForeignMethod);
        }
        self.expect(b'/', What::Protocol)?;
        let major = self.digit(What::VersionMajor)?;
        self.expect(b'.', What::VersionDot)?;
        let minor = self.digit(What::VersionMinor)?;
        if method == "PRI" && (major, minor) == (b'2', b'0') {
            return self.preface();
        }
        if major != b'1' || minor > b'1' {
            return self.fail(What::Version);
        }
        if self.peek()? != b'\r' {
            self.at += usize::from(self.peek()? == b'\n');
            return self.fail(What::VersionEnd);
        }
        self.skip();
        self.expect(b'\n', What::VersionLf)
    }

    fn method(&mut self) -> Step<&'static str> {
        let all = || METHODS.into_iter().chain(FOREIGN).chain(["PRI"]);
        let start = self.at;
        loop {
            let taken = &self.bytes[start..self.at];
            let fits = |method: &&str| method.as_bytes().starts_with(taken);
            // The longest method that is there wins, as in a trie.
            let next = self.peek()?;
            let goes_on = all().filter(fits).any(|method| {
                method
                    .as_bytes()
                    .get(taken.len())
                    .is_some_and(|byte| *byte == next)
            });
            if goes_on {
                self.skip();
            } else if let Some(method) = all().find(|method| method.as_bytes() == taken) {
                return Ok(method);
            } else {
                return self.fail(What::Method);
            }
        }
    }

    fn target(&mut self, connect: bool) -> Step {
        let start = self.at;
        let first = self.peek()?;
        if connect {
            return self.server(start);
        }
        match first {
            b'/' | b'*' => {}
            byte if byte.is_ascii_alphabetic() => {
                self.take_while(|byte| byte.is_ascii_alphabetic())?;
                for expected in b"://" {
                    let byte = self.peek()?;
                    if byte != *expected {
                        return match byte {
                            b' ' | b'\t' | b'\r' | b'\n' | 0x0c => self.fail_behind(What::UrlSpace),
                            _ => self.fail(What::UrlSchema),
                        };
                    }
                    self.skip();
                }
                return self.server(start);
            }
            b' ' | b'\t' | b'\r' | b'\n' | 0x0c => return self.fail_behind(What::UrlSpace),
            _ => return self.fail(What::UrlStart),
        }
        self.rest_of_target(start, What::UrlPath)
    }

    fn server(&mut self, start: usize) -> Step {
        let first = self.at;
        let taken = self.take_while(is_server_char);
        let server = &self.bytes[first..self.at];
        if let Some(place) = server.windows(2).position(|pair| pair == b"@@") {
            self.at = first + place + 2;
            return self.fail(What::UrlDoubleAt);
        }
        taken?;
        self.check_size(self.at - start)?;
        match self.peek()? {
            b'/' | b'?' => self.rest_of_target(start, What::UrlPath),
            b' ' => self.end_target(start),
            _ => self.fail(What::UrlServer),
        }
    }

    fn rest_of_target(&mut self, start: usize, mut part: What) -> Step {
        loop {
            let Ok(byte) = self.peek() else {
                self.check_size(self.at - start)?;
                return Err(Stop::End);
            };
            part = match (byte, part) {
                (b' ', _) => return self.end_target(start),
                (b'\t' | 0x0c, _) => {
                    return self.fail_behind(What::UrlSpace);
                }
                // Node would take these for HTTP/0.9. The engine does not speak it.
                (b'\r' | b'\n', _) => {
                    return self.fail(What::Protocol);
                }
                (b'?', What::UrlPath) => What::UrlQuery,
                (b'#', _) => What::UrlFragment,
                (byte, part) if !is_url_char(byte) => {
                    return self.fail(part);
                }
                (_, part) => part,
            };
            self.skip();
        }
    }

    fn end_target(&mut self, start: usize) -> Step {
        self.check_size(self.at - start)?;
        self.counted += self.at - start;
        Ok(())
    }

    fn check_size(&self, more: usize) -> Step {
        if self.counted + more >= self.limit {
            return self.fail(What::HeaderOverflow);
        }
        Ok(())
    }

    fn digit(&mut self, what: What) -> Step<u8> {
        let byte = self.peek()?;
        if !byte.is_ascii_digit() {
            return self.fail(what);
        }
        self.skip();
        Ok(byte)
    }

    fn preface(&mut self) -> Step {
        for expected in PREFACE {
            self.expect(*expected, What::NoPreface)?;
        }
        self.fail(What::Preface)
    }

    fn headers(&mut self) -> Step {
        if self.peek()? == b' ' {
            self.skip();
            return self.fail(What::SpaceAfterStart);
        }
        loop {
            match self.peek()? {
                b'\r' => {
                    self.skip();
                    return if self.peek()? == b'\n' {
                        self.end()
                    } else {
                        self.fail(What::HeadersLf)
                    };
                }
                b'\n' => {
                    self.skip();
                    return self.fail(What::HeaderField);
                }
                _ => self.header()?,
            }
        }
    }

    fn end(&mut self) -> Step {
        self.skip();
        if self.framing.encoding && !self.framing.chunked {
            return self.fail(What::Encoding);
        }
        Ok(())
    }

    fn header(&mut self) -> Step {
        let start = self.at;
        let name = match self.take_while(is_token) {
            Ok(name) => name,
            Err(stop) => {
                self.check_size(self.at - start)?;
                return Err(stop);
            }
        };
        if name.is_empty() || self.peek()? != b':' {
            return self.fail(What::HeaderToken);
        }
        self.check_size(name.len())?;
        self.counted += name.len();
        let is_length = name.eq_ignore_ascii_case(b"content-length");
        let is_encoding = name.eq_ignore_ascii_case(b"transfer-encoding");
        if is_length && self.framing.encoding {
            return self.fail_behind(What::LengthWithEncoding);
        }
        if is_encoding && self.framing.length {
            return self.fail_behind(What::EncodingWithLength);
        }
        self.skip();
        self.take_while(|byte| matches!(byte, b' ' | b'\t'))?;
        match self.peek()? {
            b'\r' => return self.empty_value(is_length, is_encoding),
            b'\n' => {
                self.skip();
                return self.fail(What::HeaderValue);
            }
            _ => {}
        }
        if is_length {
            self.length()?;
        } else if is_encoding {
            self.encoding()?;
        }
        self.value()
    }

    fn empty_value(&mut self, is_length: bool, is_encoding: bool) -> Step {
        self.skip();
        self.expect(b'\n', What::EmptyValueLf)?;
        if matches!(self.peek()?, b' ' | b'\t') {
            self.skip();
            return self.fail(What::HeaderValue);
        }
        if is_length {
            return self.fail(What::LengthEmpty);
        }
        if is_encoding {
            return self.fail(What::EncodingEmpty);
        }
        Ok(())
    }

    /// Checks the value, and leaves the reader at its begin.
    fn length(&mut self) -> Step {
        if self.framing.length {
            return self.fail(What::LengthTwice);
        }
        self.framing.length = true;
        let start = self.at;
        let mut length = 0_u64;
        while self.peek()?.is_ascii_digit() {
            let digit = u64::from(self.peek()? - b'0');
            let Some(longer) = length
                .checked_mul(10)
                .and_then(|length| length.checked_add(digit))
            else {
                return self.fail_behind(What::LengthOverflow);
            };
            length = longer;
            self.skip();
        }
        self.take_while(|byte| matches!(byte, b' ' | b'\t'))?;
        if self.peek()? != b'\r' {
            return self.fail(What::LengthChar);
        }
        self.at = start;
        Ok(())
    }

    /// As [`Reader::length`].
    fn encoding(&mut self) -> Step {
        let start = self.at;
        self.framing.encoding = true;
        if self.framing.chunked {
            return self.fail_behind(What::EncodingValue);
        }
        loop {
            if self.framing.chunked {
                return self.fail(What::EncodingValue);
            }
            let token = self.take_while(|byte| byte != b',' && is_value(byte))?;
            self.framing.chunked = token.trim_ascii().eq_ignore_ascii_case(b"chunked");
            if self.peek()? != b',' {
                break;
            }
            self.skip();
        }
        self.at = start;
        Ok(())
    }

    fn value(&mut self) -> Step {
        let start = self.at;
        if let Err(stop) = self.take_while(is_value) {
            self.check_size(self.at - start)?;
            return Err(stop);
        }
        if self.counted + self.at - start >= self.limit {
            return self.fail_behind(What::HeaderOverflow);
        }
        self.counted += self.at - start;
        match self.peek()? {
            b'\r' => {
                self.skip();
                if self.peek()? != b'\n' {
                    return self.fail(What::HeaderLf);
                }
                self.skip();
                if matches!(self.peek()?, b' ' | b'\t') {
                    return self.fail(What::HeaderFold);
                }
                Ok(())
            }
            b'\n' => self.fail(What::HeaderCr),
            _ => self.fail(What::HeaderValue),
        }
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value(byte: u8) -> bool {
    byte == b'\t' || (byte >= 0x20 && byte != 0x7f)
}
