//! The body of a request while it arrives.

use crate::chunked::Chunked;

pub(crate) enum Framing {
    /// Bytes left.
    Length(u64),
    Chunked(Box<Chunked>),
    /// The body is complete; the end and the trailers are still to be reported.
    Ended(Vec<u8>),
}

/// Extension of the time that a server allows for a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension {
    None,
    /// Extended by the engine's own delay, once.
    Given,
}

pub(crate) struct Body {
    pub framing: Framing,
    /// The request's number on its connection.
    pub sequence: u32,
    /// True if it is read without being reported.
    pub discarded: bool,
    pub extension: Extension,
}

/// The result of taking a body.
pub(crate) enum Taken {
    /// All available bytes were taken, or as many as there is room for.
    All,
    /// Stopped before the bytes of its next chunk: as with llhttp each piece of a chunk is reported by itself.
    Chunk,
    /// Reached its end, with the block of trailers.
    End(Vec<u8>),
}
