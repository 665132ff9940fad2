//! The numbers of the memory through which facts reach the telemetry engine. This is the only place they are written:
//! `scripts/wire.mjs` generates `packages/telemetry/src/native/wire.ts` from this file, so it contains modules of plain numbers
//! and nothing else.

/// Words before the records. A position is a number of words since the ring was made, modulo 2^32.
pub mod ring {
    /// The layout that its maker knows: `LAYOUT`.
    pub const VERSION: usize = 0;
    /// The facts that a writer reports: one of `level`. Changed by the ring's maker at any time.
    pub const LEVEL: usize = 1;
    /// Number of records that did not fit.
    pub const LOST: usize = 2;
    /// 1 while the reader sleeps: the writer that fills a quarter sets it to 0, and wakes the reader.
    pub const SLEEPS: usize = 3;
    /// Start of the six words from which the ids of requests are derived.
    pub const SEED: usize = 4;
    /// Position after the last record. Only the writer moves it.
    pub const WRITTEN: usize = 16;
    /// Position of the first record that was not read. Only the reader moves it.
    pub const TAKEN: usize = 32;
    /// Start of the records. Their number of words is a power of two.
    pub const FIRST_RECORD: usize = 48;
    /// The layout that this file describes.
    pub const LAYOUT: u32 = 1;
}

/// The facts that a writer reports.
pub mod level {
    /// None.
    pub const NOTHING: u32 = 0;
    /// All facts of requests but their heads.
    pub const FACTS: u32 = 1;
    /// Heads too.
    pub const HEADS: u32 = 2;
}

/// The kind of a record: the first number of its first word. The second is the record's length in words. A time is two words:
/// seconds of CLOCK_MONOTONIC, and nanoseconds. Bytes are padded to words.
pub mod kind {
    /// The words up to the end of the ring are unused.
    pub const PAD: u32 = 1;
    /// A request was received.
    pub const BEGIN: u32 = 2;
    /// Its response was written.
    pub const END: u32 = 3;
    /// The client's system has taken all of a response that had ended before.
    pub const SENT: u32 = 4;
    /// A connection is closed, and with it what was under way.
    pub const CLOSE: u32 = 5;
    /// The other end of a connection, before its first request.
    pub const PEER: u32 = 6;
    /// Input was refused before it became a request.
    pub const REFUSED: u32 = 7;
    /// A text that later records name by its number.
    pub const TEXT: u32 = 8;
    /// A route that END names by its number.
    pub const ROUTE: u32 = 9;
    /// A span that has ended.
    pub const SPAN: u32 = 10;
    /// A change of a request's span.
    pub const CHANGE: u32 = 11;
}

/// The second word of a time that a user gives.
pub mod time {
    /// Flag: the time counts from 1970 (CLOCK_REALTIME), as the user gave it. The other bits are the nanoseconds.
    pub const IS_EPOCH: u32 = 0x8000_0000;
}

/// The first word of a record: its kind, and its length in words.
pub mod first {
    /// Mask of the kind.
    pub const KIND_MASK: u32 = 0xff;
    /// Shift of the length, in bits.
    pub const LENGTH_SHIFT: u32 = 8;
}

/// Words of BEGIN. Connection and sequence identify a request among those of its ring.
pub mod begin {
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// The slot's generation.
    pub const GENERATION: usize = 2;
    /// The request's number on its connection.
    pub const SEQUENCE: usize = 3;
    /// The time at which its head was complete.
    pub const READ_AT: usize = 4;
    /// Length of its first line in bytes, without the version and the line end: `METHOD target`, or at level FACTS the method alone.
    pub const LINE_LENGTH: usize = 6;
    /// Length of the header lines in bytes, each with its CRLF. They follow the line; none at level FACTS.
    pub const BLOCK_LENGTH: usize = 7;
    /// Bits, each one of the flags below.
    pub const FLAGS: usize = 8;
    /// Start of the bytes.
    pub const BYTES: usize = 9;
    /// Flag: HTTP/1.0.
    pub const HTTP_10: u32 = 1;
    /// Flag: the connection is encrypted.
    pub const IS_TLS: u32 = 2;
}

/// Words of END.
pub mod end {
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// The slot's generation.
    pub const GENERATION: usize = 2;
    /// The request's number on its connection.
    pub const SEQUENCE: usize = 3;
    /// The status, from bit 22 on, and the route's number or 0.
    pub const STATUS_AND_ROUTE: usize = 4;
    /// The time at which the last byte was written by its maker.
    pub const ENDED_AT: usize = 5;
    /// The time at which the client's system had taken all bytes; seconds 0 if it has not, and SENT or CLOSE follows.
    pub const SENT_AT: usize = 7;
    /// Bits, each one of the flags below.
    pub const FLAGS: usize = 9;
    /// Size in words.
    pub const WORDS: usize = 10;
    /// Shift of the status.
    pub const STATUS_SHIFT: u32 = 22;
    /// Max number of a route.
    pub const MAX_ROUTE: u32 = 0x3f_ffff;
    /// Flag: the engine has sent a kept response.
    pub const IS_KEPT: u32 = 1;
    /// Flag: the connection was given to another protocol.
    pub const IS_UPGRADE: u32 = 2;
}

/// Words of SENT and CLOSE.
pub mod close {
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// The slot's generation.
    pub const GENERATION: usize = 2;
    /// The time.
    pub const AT: usize = 3;
    /// The error of recv or send, or 0.
    pub const ERRNO: usize = 5;
    /// Size in words.
    pub const WORDS: usize = 6;
}

/// Words of PEER.
pub mod peer {
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// The slot's generation.
    pub const GENERATION: usize = 2;
    /// The port of the other end, 0 for a Unix socket.
    pub const PORT: usize = 3;
    /// Length of its address in bytes.
    pub const LENGTH: usize = 4;
    /// Start of these bytes.
    pub const BYTES: usize = 5;
}

/// Words of REFUSED.
pub mod refused {
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// The slot's generation.
    pub const GENERATION: usize = 2;
    /// The time at which its first byte was received.
    pub const READ_AT: usize = 3;
    /// The time at which it was refused.
    pub const REFUSED_AT: usize = 5;
    /// The status of Node's own response: 400, 408, 413 or 431.
    pub const STATUS: usize = 7;
    /// Length of the error's code in bytes.
    pub const LENGTH: usize = 8;
    /// Start of these bytes.
    pub const BYTES: usize = 9;
}

/// Words of TEXT.
pub mod text {
    /// Its number, from 1 on.
    pub const NUMBER: usize = 1;
    /// Its length in bytes of UTF-8.
    pub const LENGTH: usize = 2;
    /// Start of these bytes.
    pub const BYTES: usize = 3;
}

/// Words of ROUTE.
pub mod route {
    /// Its number, from 1 on.
    pub const NUMBER: usize = 1;
    /// Length of its pattern, as `http.route` has it, in bytes of UTF-8.
    pub const LENGTH: usize = 2;
    /// Start of these bytes.
    pub const BYTES: usize = 3;
}

/// Words of SPAN, followed by its fields, one after another: the text of its name; of its instrumentation scope, as `name`, NUL,
/// `version`, NUL, `schema URL`; of the status's message; of the trace state; the number of attributes, and these; the number of
/// events, and these; the number of links, and these; the numbers of attributes, events and links that a limit dropped.
/// A text is one word, twice its number plus 1, or twice its length followed by its bytes. An attribute is the text of its key, and
/// a value: a word of `value`, and its words. An event is a time, the text of its name, the number of its attributes, and these.
/// A link is the four words of a trace id, the two of a span id, its flags, the text of its trace state, the number of its
/// attributes, and these. The number of attributes of an event or a link has, from bit `DROPPED_SHIFT` on, the number of those that
/// a limit dropped.
pub mod span {
    /// The trace id: four words, each eight digits of it.
    pub const TRACE_ID: usize = 1;
    /// The span id: two words.
    pub const SPAN_ID: usize = 5;
    /// The parent's span id: two words, both 0 for none.
    pub const PARENT_ID: usize = 7;
    /// The kind of OTLP, from 1 (internal) to 5.
    pub const KIND: usize = 9;
    /// The status of OTLP: 0 unset, 1 ok, 2 error.
    pub const STATUS: usize = 10;
    /// The flags of OTLP: trace flags, and bits 8 and 9 for a remote parent.
    pub const FLAGS: usize = 11;
    /// The time of its start.
    pub const STARTED_AT: usize = 12;
    /// The time of its end.
    pub const ENDED_AT: usize = 14;
    /// Start of the fields.
    pub const FIELDS: usize = 16;
    /// Shift of the number of attributes that were dropped from an event or a link.
    pub const DROPPED_SHIFT: u32 = 16;
}

/// The first word of a value.
pub mod value {
    /// A boolean.
    pub const FALSE: u32 = 0;
    /// A boolean.
    pub const TRUE: u32 = 1;
    /// An integer: two words of 64 bits, the lower first.
    pub const INTEGER: u32 = 2;
    /// A floating-point number: likewise.
    pub const DOUBLE: u32 = 3;
    /// A text.
    pub const TEXT: u32 = 4;
    /// The number of values that follow, and these.
    pub const ARRAY: u32 = 5;
    /// A value that is null, or missing from an array.
    pub const NOTHING: u32 = 6;
    /// Bytes: their number, and these.
    pub const BYTES: u32 = 7;
    /// A map: the number of its entries, and for each the text of its key, and a value.
    pub const MAP: u32 = 8;
    /// Max depth of a value: those in an array or a map are one deeper, and what is deeper still is written as nothing.
    pub const MAX_DEPTH: u32 = 32;
}

/// Words of CHANGE, followed by the fields that its operation names.
pub mod change {
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// The slot's generation.
    pub const GENERATION: usize = 2;
    /// The request's number on its connection.
    pub const SEQUENCE: usize = 3;
    /// One of the operations below.
    pub const OPERATION: usize = 4;
    /// Start of its fields.
    pub const FIELDS: usize = 5;
    /// Sets attributes: their number, and these.
    pub const ATTRIBUTES: u32 = 1;
    /// Replaces the name: its text.
    pub const NAME: u32 = 2;
    /// Sets the status: its number, and the text of its message.
    pub const STATUS: u32 = 3;
    /// Adds an event.
    pub const EVENT: u32 = 4;
    /// Adds a link.
    pub const LINK: u32 = 5;
    /// Decides on sampling: 1 to record the span, 0 to drop it.
    pub const SAMPLED: u32 = 6;
    /// Replaces the route: its number.
    pub const ROUTE: u32 = 7;
}
