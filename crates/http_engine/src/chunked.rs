//! The chunked transfer coding, read as strictly as llhttp reads it.

use crate::diagnose::{self, Progress};
use crate::head::{self, Limits};
use crate::problem::{Problem, ProblemKind};

/// Node's limit for the extensions of a chunk, in bytes.
const MAX_EXTENSIONS: usize = 16 * 1024;

/// The result of [`Chunked::next`].
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Everything was read and the body continues.
    More,
    /// The line before a chunk: bytes of the body follow.
    Chunk,
    /// Bytes of the body: the last ones of the bytes read.
    Data(usize),
    /// The end. The trailers are in [`Chunked::trailers`].
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    SizeStart,
    Size,
    SizeLf,
    Extension,
    ExtensionName,
    ExtensionValue,
    ExtensionQuoted,
    ExtensionPair,
    ExtensionQuotedEnd,
    ExtensionLf,
    Data,
    DataCr,
    DataLf,
    Trailers,
}

/// The position of the reader of a chunked body.
#[derive(Debug)]
pub struct Chunked {
    state: State,
    /// Of the current chunk: the size read so far, then the bytes left of its data.
    left: u64,
    extensions: usize,
    trailers: Vec<u8>,
    /// The reading position in trailers that arrive in pieces.
    progress: Option<Box<Progress>>,
    limits: Limits,
}

impl Chunked {
    /// Starts a body whose trailers have the limits of a head.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            state: State::SizeStart,
            left: 0,
            extensions: 0,
            trailers: Vec::new(),
            progress: None,
            limits,
        }
    }

    /// Returns the block after the last chunk, including its empty line; empty before the end and without trailers.
    #[must_use]
    pub fn trailers(&self) -> &[u8] {
        &self.trailers
    }

    /// Continues reading. Returns the number of bytes taken, and what they contain.
    ///
    /// # Errors
    /// A problem, with its position in `input`.
    pub fn next(&mut self, input: &[u8]) -> Result<(usize, Found), Problem> {
        let mut at = 0;
        while let Some(byte) = input.get(at).copied() {
            match self.state {
                State::Data => {
                    let rest = (input.len() - at) as u64;
                    let length = rest.min(self.left);
                    self.left -= length;
                    if self.left == 0 {
                        self.state = State::DataCr;
                    }
                    return Ok((at + length as usize, Found::Data(length as usize)));
                }
                State::Trailers => return self.trailer(input, at),
                _ => self.step(byte, at)?,
            }
            at += 1;
            if self.state == State::Data {
                return Ok((at, Found::Chunk));
            }
        }
        Ok((at, Found::More))
    }

    fn step(&mut self, byte: u8, at: usize) -> Result<(), Problem> {
        let fail = |kind| Err(Problem::new(kind, at));
        let fail_behind = |kind| Err(Problem::new(kind, at + 1));
        self.state = match (self.state, byte) {
            (State::SizeStart | State::Size, byte) if byte.is_ascii_hexdigit() => {
                self.size(byte, at)?;
                State::Size
            }
            (State::Size, b'\r') => State::SizeLf,
            (State::Size, b'\n') => return fail_behind(ProblemKind::ChunkCr),
            (State::Size, b';') => State::Extension,
            (State::Size, b' ' | b'\t') => return fail_behind(ProblemKind::ChunkSize),
            (State::SizeStart | State::Size, _) => return fail(ProblemKind::ChunkSize),
            (State::SizeLf, b'\n') | (State::ExtensionLf, b'\n') => self.state_after_size(),
            (State::SizeLf | State::ExtensionLf, _) => return fail(ProblemKind::ChunkLf),

            (State::Extension, b' ' | b'\r') => return fail_behind(ProblemKind::Extension),
            // A name may be empty.
            (State::Extension | State::ExtensionName, byte) if is_token(byte) => {
                State::ExtensionName
            }
            (State::Extension | State::ExtensionName, b'=') => State::ExtensionValue,
            (State::ExtensionValue, byte) if is_token(byte) => State::ExtensionValue,
            (State::ExtensionValue, b'"') => State::ExtensionQuoted,
            (
                State::Extension
                | State::ExtensionName
                | State::ExtensionValue
                | State::ExtensionQuotedEnd,
                b';',
            ) => State::Extension,
            (State::ExtensionName | State::ExtensionValue | State::ExtensionQuotedEnd, b'\r') => {
                State::ExtensionLf
            }
            (State::ExtensionName | State::ExtensionValue | State::ExtensionQuotedEnd, b'\n') => {
                return fail(ProblemKind::ExtensionCr);
            }
            (State::Extension | State::ExtensionName, _) => {
                return fail_behind(ProblemKind::ExtensionName);
            }
            (State::ExtensionValue, _) => return fail_behind(ProblemKind::ExtensionValue),
            (State::ExtensionQuotedEnd, _) => return fail(ProblemKind::ExtensionQuotedEnd),
            (State::ExtensionQuoted, b'"') => State::ExtensionQuotedEnd,
            (State::ExtensionQuoted, b'\\') => State::ExtensionPair,
            (State::ExtensionQuoted, byte) if is_quotable(byte) => State::ExtensionQuoted,
            (State::ExtensionQuoted, _) => return fail_behind(ProblemKind::ExtensionQuoted),
            (State::ExtensionPair, byte) if is_quotable(byte) => State::ExtensionQuoted,
            (State::ExtensionPair, _) => return fail_behind(ProblemKind::ExtensionPair),

            (State::DataCr, b'\r') => State::DataLf,
            (State::DataCr, b'\n') => return fail_behind(ProblemKind::ChunkDataCr),
            (State::DataCr | State::DataLf, _) if byte != b'\n' => {
                return fail(ProblemKind::ChunkDataLf);
            }
            (State::DataCr | State::DataLf, _) => State::SizeStart,
            (State::Data | State::Trailers, _) => unreachable!("read in bulk"),
        };
        let is_counted = match self.state {
            State::ExtensionName | State::ExtensionValue => byte != b'=',
            State::ExtensionQuoted | State::ExtensionPair => byte != b'"',
            _ => false,
        };
        self.extensions += usize::from(is_counted);
        if self.extensions > MAX_EXTENSIONS {
            return fail_behind(ProblemKind::ExtensionOverflow);
        }
        Ok(())
    }

    fn size(&mut self, byte: u8, at: usize) -> Result<(), Problem> {
        let digit = (byte as char).to_digit(16).expect("a hexadecimal digit");
        if self.state == State::SizeStart {
            self.left = 0;
            self.extensions = 0;
        }
        self.left = self
            .left
            .checked_mul(16)
            .ok_or(Problem::new(ProblemKind::ChunkOverflow, at + 1))?
            + u64::from(digit);
        Ok(())
    }

    fn state_after_size(&self) -> State {
        if self.left == 0 {
            State::Trailers
        } else {
            State::Data
        }
    }

    fn trailer(&mut self, input: &[u8], start: usize) -> Result<(usize, Found), Problem> {
        let before = self.trailers.len();
        // A problem is in the new part: earlier bytes were examined when they arrived.
        let moved = |problem: Problem| Problem {
            at: problem.at.saturating_sub(before) + start,
            ..problem
        };
        for (index, byte) in input[start..].iter().enumerate() {
            self.trailers.push(*byte);
            if self.trailers == b"\r\n" {
                self.trailers.clear();
                return Ok((start + index + 1, Found::End));
            }
            if self.trailers.ends_with(b"\r\n\r\n") {
                return match head::read_trailers(&self.trailers, |_, _, _, _| {}) {
                    Ok(facts) if !facts.exceed(0, self.limits) => {
                        Ok((start + index + 1, Found::End))
                    }
                    Ok(_) => Err(diagnose::block(&self.trailers, self.limits).map_or(
                        Problem::new(ProblemKind::HeaderOverflow, start + index),
                        moved,
                    )),
                    Err(_) => Err(moved(self.diagnose())),
                };
            }
        }
        let fresh = || Box::new(Progress::of_block(self.limits));
        match self.progress.get_or_insert_with(fresh).read(&self.trailers) {
            Some(problem) => Err(moved(problem)),
            None if self.trailers.len() > head::max_size(self.limits.size) => {
                Err(Problem::new(ProblemKind::HeaderOverflow, input.len()))
            }
            None => Ok((input.len(), Found::More)),
        }
    }

    fn diagnose(&self) -> Problem {
        diagnose::block(&self.trailers, self.limits)
            .unwrap_or(Problem::new(ProblemKind::HeaderToken, 0))
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Accepts qdtext and quoted-pair of RFC 9110, section 5.6.4, as llhttp does.
fn is_quotable(byte: u8) -> bool {
    byte == b'\t' || (byte >= 0x20 && byte != 0x7f)
}
