//! Finds the problem of a head, byte by byte, in llhttp's words and at llhttp's positions.
//!
//! Runs on refused and on incomplete heads, never on a valid one.

mod headers;
mod start_line;

use crate::head::Limits;
use crate::problem::{Problem, ProblemKind};

/// Returns the first problem of a head that begins with `bytes`; `None` if they are valid so far.
#[must_use]
pub fn head(bytes: &[u8], limits: Limits) -> Option<Problem> {
    Progress::of_head(limits).read(bytes)
}

/// Like [`head`], for a header block alone: the trailers of a chunked body.
#[must_use]
pub fn block(bytes: &[u8], limits: Limits) -> Option<Problem> {
    Progress::of_block(limits).read(bytes)
}

/// The reading position in a head that arrives piece by piece, so that no byte is examined again with every piece: the findings
/// up to its last complete line, and the run that the bytes after it end in.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    line: Line,
    run: Option<Run>,
    /// Bytes that were read.
    seen: usize,
    /// Bytes that were examined, repeated examinations included.
    #[cfg(test)]
    looked_at: usize,
}

/// The findings before a line.
#[derive(Clone, Copy, Debug)]
struct Line {
    at: usize,
    counted: usize,
    headers: usize,
    framing: Framing,
    limits: Limits,
    /// True if the headers follow a request line, not a body.
    has_start_line: bool,
    /// True after the request line.
    in_headers: bool,
}

/// A run of bytes of one kind that continued beyond the last piece.
#[derive(Clone, Copy, Debug)]
struct Run {
    good: fn(u8) -> bool,
    start: usize,
    /// The count before it, if the run itself counts.
    counted: Option<usize>,
}

impl Progress {
    /// Starts a head.
    #[must_use]
    pub fn of_head(limits: Limits) -> Self {
        Self::new(limits, true)
    }

    /// Starts a block after a body.
    #[must_use]
    pub fn of_block(limits: Limits) -> Self {
        Self::new(limits, false)
    }

    fn new(limits: Limits, has_start_line: bool) -> Self {
        // A body with a block after it is chunked.
        let framing = Framing {
            length: false,
            encoding: !has_start_line,
            chunked: !has_start_line,
        };
        let line = Line {
            at: 0,
            counted: 0,
            headers: 0,
            framing,
            limits,
            has_start_line,
            in_headers: !has_start_line,
        };
        Self {
            line,
            run: None,
            seen: 0,
            #[cfg(test)]
            looked_at: 0,
        }
    }

    /// Continues reading. `bytes` are all bytes so far, including those of earlier calls.
    pub fn read(&mut self, bytes: &[u8]) -> Option<Problem> {
        let goes_on = self.run.is_some_and(|run| {
            let length = bytes.len() - run.start;
            let fits = |counted: usize| counted + length < self.line.limits.size;
            bytes[self.seen..].iter().all(|byte| (run.good)(*byte)) && run.counted.is_none_or(fits)
        });
        #[cfg(test)]
        {
            self.looked_at += bytes.len() - if goes_on { self.seen } else { self.line.at };
        }
        self.seen = bytes.len();
        if goes_on {
            return None;
        }
        let mut reader = Reader {
            bytes,
            at: self.line.at,
            line: self.line,
            begin: self.line,
            run: None,
        };
        let step = if reader.line.in_headers {
            reader.headers()
        } else {
            reader.start_line().and_then(|()| reader.headers())
        };
        self.line = reader.begin;
        self.run = reader.run;
        match step {
            Err(Stop::Problem(problem)) => Some(problem),
            Ok(()) | Err(Stop::End) => None,
        }
    }

    /// Returns true if the empty line may have arrived since the last call; `bytes` are all bytes so far.
    #[must_use]
    pub fn may_end(&self, bytes: &[u8]) -> bool {
        let from = self.seen.saturating_sub(3);
        memchr::memmem::find(&bytes[from..], b"\r\n\r\n").is_some()
    }
}

enum Stop {
    End,
    Problem(Problem),
}

type Step<T = ()> = Result<T, Stop>;

#[derive(Clone, Copy, Debug)]
struct Framing {
    length: bool,
    encoding: bool,
    chunked: bool,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: Line,
    /// The findings at the start of the line.
    begin: Line,
    run: Option<Run>,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Step<u8> {
        self.bytes.get(self.at).copied().ok_or(Stop::End)
    }

    fn fail<T>(&self, kind: ProblemKind) -> Step<T> {
        Err(Stop::Problem(Problem::new(kind, self.at)))
    }

    /// Fails like `fail`, after the byte, which llhttp consumes before it complains.
    fn fail_behind<T>(&mut self, kind: ProblemKind) -> Step<T> {
        self.skip();
        self.fail(kind)
    }

    fn skip(&mut self) {
        self.at += 1;
    }

    fn expect(&mut self, byte: u8, kind: ProblemKind) -> Step {
        if self.peek()? != byte {
            return self.fail(kind);
        }
        self.skip();
        Ok(())
    }

    fn take_while(&mut self, good: fn(u8) -> bool) -> Step<&'a [u8]> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let Some(length) = rest.iter().position(|byte| !good(*byte)) else {
            self.at = self.bytes.len();
            self.run = Some(Run {
                good,
                start,
                counted: None,
            });
            return Err(Stop::End);
        };
        self.at += length;
        Ok(&rest[..length])
    }

    /// Takes bytes like `take_while`, counting them from `start`.
    fn take_counted(&mut self, start: usize, good: fn(u8) -> bool) -> Step<&'a [u8]> {
        let taken = self.take_while(good);
        if taken.is_err() {
            self.check_size(self.at - start)?;
            self.run = Some(Run {
                good,
                start,
                counted: Some(self.line.counted),
            });
        }
        taken
    }

    fn check_size(&self, more: usize) -> Step {
        if self.line.counted + more >= self.line.limits.size {
            return self.fail(ProblemKind::HeaderOverflow);
        }
        Ok(())
    }

    fn begin_line(&mut self) {
        self.line.at = self.at;
        self.line.in_headers = true;
        self.begin = self.line;
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Progress};

    /// At each line boundary the line is examined again, but never the bytes before it.
    #[test]
    fn a_head_in_single_bytes_is_scanned_once() {
        let value = "v".repeat(200);
        let headers: String = (0..50).map(|at| format!("x-{at}: {value}\r\n")).collect();
        let head = format!("GET /{value} HTTP/1.1\r\nhost: a\r\n{headers}");
        let limits = Limits {
            size: usize::MAX,
            headers: usize::MAX,
        };
        let mut progress = Progress::of_head(limits);
        for end in 1..=head.len() {
            assert!(progress.read(&head.as_bytes()[..end]).is_none());
        }
        let times = progress.looked_at / head.len();
        assert!(times < 12, "{times} times");
    }
}
