//! Says what is wrong with a head, byte by byte, in llhttp's words and at llhttp's positions.
//!
//! Runs on heads that were refused and on those that are not complete yet, never on a good one.

mod headers;
mod start_line;

use crate::problem::{Problem, What};

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
    reader.has_start_line = false;
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
    /// The headers follow a request line, not a body.
    has_start_line: bool,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], limit: usize) -> Self {
        Self {
            bytes,
            at: 0,
            counted: 0,
            limit,
            framing: Framing::default(),
            has_start_line: true,
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

    fn check_size(&self, more: usize) -> Step {
        if self.counted + more >= self.limit {
            return self.fail(What::HeaderOverflow);
        }
        Ok(())
    }
}
