//! The body of a request while it comes in.

use crate::chunked::Chunked;

pub(crate) enum Framing {
    /// This many bytes are left.
    Length(u64),
    Chunked(Box<Chunked>),
    /// Everything is read; the end and the trailers are still to be reported.
    Ended(Vec<u8>),
}

/// How much longer it may take than its server allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension {
    None,
    /// As long as the engine looked too late, which happens once.
    Given,
}

pub(crate) struct Body {
    pub framing: Framing,
    /// The request's number on its connection.
    pub sequence: u32,
    /// It is read without being reported.
    pub discarded: bool,
    pub extension: Extension,
}

/// How far a body was taken.
pub(crate) enum Taken {
    /// As far as there are bytes, or room for them.
    All,
    /// To the bytes of its next chunk: as with llhttp each piece of a chunk is reported by itself.
    Chunk,
    /// To its end, with the block of trailers.
    End(Vec<u8>),
}
