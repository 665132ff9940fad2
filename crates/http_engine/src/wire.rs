//! The numbers of the memory that the engine shares with its owner. This is the only place they are written: `scripts/wire.mjs`
//! generates `packages/http/src/native/wire.ts` from this file, so it contains modules of plain numbers and nothing else.

/// The kind of a record: the first number of its first word.
pub mod kind {
    /// A connection was opened.
    pub const OPEN: u32 = 1;
    /// A request, with the available part of its body.
    pub const REQUEST: u32 = 2;
    /// A piece of a body.
    pub const BODY: u32 = 3;
    /// A body is complete.
    pub const BODY_END: u32 = 4;
    /// The kernel has taken all written bytes.
    pub const DRAIN: u32 = 5;
    /// A client's input cannot be parsed, or took too long.
    pub const ERROR: u32 = 6;
    /// A connection has reached its inactivity limit.
    pub const TIMEOUT: u32 = 7;
    /// A connection is closed.
    pub const CLOSE: u32 = 8;
    /// A connection was dropped, because their number is at its limit.
    pub const DROP: u32 = 9;
    /// The last connection of a stopped server is closed.
    pub const STOPPED: u32 = 10;
    /// A client ended its side while responses are due.
    pub const END: u32 = 11;
    /// Log lines of the engine's own responses are waiting.
    pub const LINES: u32 = 12;
    /// A file range was sent, or cannot continue.
    pub const FILE: u32 = 13;
}

/// A word of two numbers.
pub mod pair {
    /// Mask of the first.
    pub const FIRST_MASK: u32 = 0xff;
    /// Shift of the second, in bits.
    pub const SECOND_SHIFT: u32 = 8;
}

/// The start of every record.
pub mod record {
    /// A pair: its kind and its length in words.
    pub const KIND_AND_LENGTH: usize = 0;
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// The slot's generation, which identifies the connection.
    pub const GENERATION: usize = 2;
    /// The server's number.
    pub const SERVER: usize = 3;
    /// Start of the words of its kind.
    pub const WORDS: usize = 4;
}

/// Words of a request.
pub mod request {
    /// Its number on the connection.
    pub const SEQUENCE: usize = 4;
    /// A pair: the method's number and the request's flags.
    pub const METHOD_AND_FLAGS: usize = 5;
    /// The URL's entry in the owner's table.
    pub const URL: usize = 6;
    /// Offset of the URL, unless its entry is known.
    pub const URL_OFFSET: usize = 7;
    /// Length of the URL in bytes.
    pub const URL_LENGTH: usize = 8;
    /// The header block's entry in the owner's table.
    pub const BLOCK: usize = 9;
    /// Offset of the header block, unless its entry is known.
    pub const BLOCK_OFFSET: usize = 10;
    /// Length of the header block in bytes.
    pub const BLOCK_LENGTH: usize = 11;
    /// Number of headers that follow, unless the block's entry is known.
    pub const HEADER_COUNT: usize = 12;
    /// Offset of the first bytes of the body.
    pub const BODY_OFFSET: usize = 13;
    /// Number of these bytes.
    pub const BODY_LENGTH: usize = 14;
    /// Start of the headers.
    pub const HEADERS: usize = 15;
}

/// An entry in one of the owner's tables; 0 for none.
pub mod entry {
    /// Set if the owner has it. Otherwise the record includes its bytes, and the owner keeps the result of parsing them.
    pub const IS_KNOWN: u32 = 1;
    /// Shift of its number, in bits.
    pub const NUMBER_SHIFT: u32 = 1;
}

/// Words of a header or trailer. Offsets count from the start of its block.
pub mod header {
    /// A pair: the number of a known name, or 0, and the length of the name.
    pub const NAME: usize = 0;
    /// Offset of the name.
    pub const NAME_OFFSET: usize = 1;
    /// Offset of the value.
    pub const VALUE_OFFSET: usize = 2;
    /// Length of the value in bytes.
    pub const VALUE_LENGTH: usize = 3;
    /// Size of a header in words.
    pub const WORDS: usize = 4;
    /// Flag in the word of the name: a known name is written in lower case.
    pub const LOWER_CASE: u32 = 0x8000_0000;
}

/// Words of a piece of a body.
pub mod body {
    /// The request's number on the connection.
    pub const SEQUENCE: usize = 4;
    /// Offset of the piece.
    pub const OFFSET: usize = 5;
    /// Its length in bytes.
    pub const LENGTH: usize = 6;
}

/// Words of a body's end.
pub mod body_end {
    /// The request's number on the connection.
    pub const SEQUENCE: usize = 4;
    /// Offset of the block of trailers.
    pub const BLOCK_OFFSET: usize = 5;
    /// Number of trailers that follow.
    pub const TRAILER_COUNT: usize = 6;
    /// Start of the trailers.
    pub const TRAILERS: usize = 7;
}

/// Words of an error.
pub mod error {
    /// Index of the problem in the tables.
    pub const PROBLEM: usize = 4;
    /// Number of bytes parsed.
    pub const BYTES_PARSED: usize = 5;
    /// Offset of the bytes that contain the error.
    pub const PACKET_OFFSET: usize = 6;
    /// Number of these bytes.
    pub const PACKET_LENGTH: usize = 7;
    /// The refused request's number on the connection.
    pub const PLACE: usize = 8;
    /// Size of the record in words.
    pub const WORDS: usize = 9;
    /// The error does not concern a request after others.
    pub const NO_PLACE: u32 = 0xffff_ffff;
}

/// Words of a timeout.
pub mod timeout {
    /// 1 without any activity, 0 between two requests.
    pub const IS_INACTIVE: usize = 4;
}

/// Words of a closed connection.
pub mod close {
    /// The error of recv or send, or 0.
    pub const ERRNO: usize = 4;
}

/// Words of a dropped connection.
pub mod drop {
    /// Offset of the text: both ends as `address port`, remote NUL local.
    pub const TEXT_OFFSET: usize = 4;
    /// Its length in bytes.
    pub const TEXT_LENGTH: usize = 5;
}

/// Words of the record of waiting log lines.
pub mod lines {
    /// 1: the owner should take them at once; 0: before long.
    pub const ARE_DUE: usize = 4;
}

/// Words of the log line of a response made by the owner. Its texts follow those of the line before.
pub mod owners_line {
    /// A pair: 1 for HEAD, 0 for GET, and the status.
    pub const IS_HEAD_AND_STATUS: usize = 0;
    /// Response time in microseconds.
    pub const TOOK: usize = 1;
    /// Bytes of the target, which is printable.
    pub const URL_LENGTH: usize = 2;
    /// Bytes of the id after it, 0 for none.
    pub const ID_LENGTH: usize = 3;
    /// Size of a line in words.
    pub const WORDS: usize = 4;
}

/// News for the owner after such lines are written.
pub mod owners_news {
    /// So many wait that the owner should take them at once; it has not been notified yet.
    pub const DUE: u32 = 1;
    /// So many wait that the owner must write its lines itself until it takes some.
    pub const FULL: u32 = 1 << 1;
}

/// Flags of a request.
pub mod request_flags {
    /// No body.
    pub const BODY_NONE: u32 = 1;
    /// The record contains the whole body.
    pub const BODY_COMPLETE: u32 = 1 << 1;
    /// A chunked body.
    pub const BODY_CHUNKED: u32 = 1 << 2;
    /// The client wants to keep the connection.
    pub const KEEP_ALIVE: u32 = 1 << 3;
    /// HTTP/1.0.
    pub const HTTP_10: u32 = 1 << 4;
    /// `Expect: 100-continue`.
    pub const EXPECT_CONTINUE: u32 = 1 << 5;
    /// Another `Expect`.
    pub const EXPECT_OTHER: u32 = 1 << 6;
    /// `Connection: upgrade` with an `Upgrade` header.
    pub const UPGRADE: u32 = 1 << 7;
    /// The method is CONNECT.
    pub const CONNECT: u32 = 1 << 8;
    /// HTTP/1.1 without a `Host` header.
    pub const HOST_MISSING: u32 = 1 << 9;
}

/// The words before the commands, which a thread beside the owner's may read without the engine's lock.
pub mod outstanding {
    /// End of the commands. The owner moves it, with every command.
    pub const WRITTEN: usize = 0;
    /// Start of the commands not yet taken. Written by the engine; both are reset only while the owner waits for the engine.
    pub const TAKEN: usize = 1;
    /// 1 while no thread checks for writes: a writer must then report them.
    pub const UNWATCHED: usize = 2;
    /// Number of flushes by the owner's thread.
    pub const FLUSHES: usize = 3;
    /// 1 while the kernel holds back partial packets that only a flush sends.
    pub const CORKED: usize = 4;
    /// Number of servers with waiting lines: the owner takes them before it writes a later one.
    pub const LINES: usize = 5;
    /// Start of the commands.
    pub const FIRST_COMMAND: usize = 6;
}

/// Words of a command.
pub mod command {
    /// A pair: the action and its flags.
    pub const ACTION_AND_FLAGS: usize = 0;
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// The slot's generation, which identifies the connection.
    pub const GENERATION: usize = 2;
    /// The number of the request that the response belongs to.
    pub const SEQUENCE: usize = 3;
    /// Offset of the bytes.
    pub const OFFSET: usize = 4;
    /// Number of bytes.
    pub const LENGTH: usize = 5;
    /// With the last command of a response: its status above its route's number. 0 otherwise, and without an observer.
    pub const FACTS: usize = 6;
    /// Size of a command in words.
    pub const WORDS: usize = 7;
    /// Shift of the status in the facts, in bits.
    pub const STATUS_SHIFT: u32 = 22;
    /// The only action: write the bytes.
    pub const WRITE: u32 = 1;
}

/// Flags of a write.
pub mod write_flags {
    /// The bytes are one chunk.
    pub const CHUNK: u32 = 1;
    /// The response ends with these bytes. With `CHUNK` the last chunk is added.
    pub const END: u32 = 1 << 1;
    /// With `END`: the connection closes once everything is sent.
    pub const CLOSE: u32 = 1 << 2;
    /// The bytes are trailer lines: the last chunk precedes them.
    pub const TRAILERS: u32 = 1 << 3;
    /// Outside the order of responses, after everything that was written.
    pub const RAW: u32 = 1 << 4;
}

/// The outcome of keeping a response.
pub mod outcome {
    /// It is kept, and sent from now on.
    pub const KEPT: u32 = 0;
    /// The next one is kept if it is the same.
    pub const FIRST: u32 = 1;
    /// The engine does not respond by itself.
    pub const NOT_SERVED: u32 = 2;
    /// Its request was not a GET.
    pub const METHOD: u32 = 3;
    /// Its status must not be kept.
    pub const STATUS: u32 = 4;
    /// It has headers that the engine writes.
    pub const HEADERS: u32 = 5;
    /// It sets a cookie.
    pub const SET_COOKIE: u32 = 6;
    /// It forbids keeping itself.
    pub const CACHE_CONTROL: u32 = 7;
    /// It varies on something that its keeper does not know.
    pub const VARY: u32 = 8;
    /// Its identity is unknown.
    pub const CREDENTIALS: u32 = 9;
    /// The data it is made from was dropped meanwhile.
    pub const DROPPED: u32 = 10;
    /// It differs from the last one.
    pub const CHANGES: u32 = 11;
    /// It is too large.
    pub const LARGE: u32 = 12;
    /// Too many others differ from it by varied headers alone.
    pub const VARIANTS: u32 = 13;
    /// The `Host` of its request is not a host.
    pub const HOST: u32 = 14;
    /// Number of outcomes.
    pub const COUNT: usize = 15;
}

/// The counts of a response store.
pub mod answer_count {
    /// Requests with a response from the store.
    pub const HITS: usize = 0;
    /// Hits with a stale response, while another request renewed it.
    pub const STALE_HITS: usize = 1;
    /// Hits with status 304.
    pub const NOT_MODIFIED: usize = 2;
    /// Responses evicted for others.
    pub const EVICTED: usize = 3;
    /// Responses that were dropped.
    pub const DROPPED: usize = 4;
    /// Kept responses.
    pub const ANSWERS: usize = 5;
    /// Their memory in bytes.
    pub const BYTES: usize = 6;
    /// Max memory in bytes.
    pub const MAX_BYTES: usize = 7;
    /// Requests passed to the owner because the log had no room for their lines.
    pub const LOG_FULL: usize = 8;
    /// Start of the counts of the outcomes.
    pub const OUTCOMES: usize = 9;
    /// End of these counts.
    pub const WORDS: usize = 24;
    /// Default max memory, in bytes.
    pub const DEFAULT_MAX_BYTES: usize = 64 << 20;
}

/// The content codings between which the engine chooses.
pub mod encoding {
    /// No coding.
    pub const IDENTITY: u32 = 0;
    /// Brotli.
    pub const BR: u32 = 1;
    /// Zstandard.
    pub const ZSTD: u32 = 2;
    /// gzip.
    pub const GZIP: u32 = 3;
    /// Bits of each number in a list of codings.
    pub const BITS: u32 = 2;
    /// Mask of one number in a list.
    pub const MASK: u32 = 3;
}

/// The identity that a response belongs to.
pub mod identity {
    /// Any client without credentials.
    pub const ANONYMOUS: u32 = 0;
    /// The same, if cookies are not credentials.
    pub const ANY_COOKIES: u32 = 1;
    /// Any client.
    pub const PUBLIC: u32 = 2;
    /// Clients that send the same value of the first header.
    pub const HEADER: u32 = 3;
    /// Clients that send the same value of the first cookie.
    pub const COOKIE: u32 = 4;
}
