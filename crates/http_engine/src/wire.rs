//! The numbers of the memory that the engine shares with its owner. This is the only place they are written: `scripts/wire.mjs` makes
//! `packages/http/src/native/wire.ts` of this file, so it holds modules of plain numbers and nothing else.

/// What a record is about: the first number of its first word.
pub mod kind {
    /// A connection came.
    pub const OPEN: u32 = 1;
    /// A request, with what there is of its body.
    pub const REQUEST: u32 = 2;
    /// A piece of a body.
    pub const BODY: u32 = 3;
    /// A body is complete.
    pub const BODY_END: u32 = 4;
    /// The kernel has taken everything that was written.
    pub const DRAIN: u32 = 5;
    /// What a client sent cannot be parsed, or took too long.
    pub const ERROR: u32 = 6;
    /// A connection has been inactive for as long as it may be.
    pub const TIMEOUT: u32 = 7;
    /// A connection is gone.
    pub const CLOSE: u32 = 8;
    /// A connection was dropped, because their number is at its limit.
    pub const DROP: u32 = 9;
    /// The last connection of a server that was stopped is gone.
    pub const STOPPED: u32 = 10;
    /// A client ended its side while answers are due.
    pub const END: u32 = 11;
    /// Lines of the engine's own answers wait.
    pub const LINES: u32 = 12;
    /// A part of a file has left, or goes no further.
    pub const FILE: u32 = 13;
}

/// A word of two numbers.
pub mod pair {
    /// Masks the first.
    pub const FIRST_MASK: u32 = 0xff;
    /// The bits by which the second is shifted.
    pub const SECOND_SHIFT: u32 = 8;
}

/// How every record begins.
pub mod record {
    /// A pair: its kind and its length in words.
    pub const KIND_AND_LENGTH: usize = 0;
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// Which of the connections that have had the slot.
    pub const GENERATION: usize = 2;
    /// The server's number.
    pub const SERVER: usize = 3;
    /// Where the words of its kind begin.
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
    /// Where the URL lies, unless its entry is known.
    pub const URL_OFFSET: usize = 7;
    /// Its bytes.
    pub const URL_LENGTH: usize = 8;
    /// The header block's entry in the owner's table.
    pub const BLOCK: usize = 9;
    /// Where the header block lies, unless its entry is known.
    pub const BLOCK_OFFSET: usize = 10;
    /// Its bytes.
    pub const BLOCK_LENGTH: usize = 11;
    /// How many headers follow, unless the block's entry is known.
    pub const HEADER_COUNT: usize = 12;
    /// Where the first bytes of the body lie.
    pub const BODY_OFFSET: usize = 13;
    /// How many there are.
    pub const BODY_LENGTH: usize = 14;
    /// Where the headers begin.
    pub const HEADERS: usize = 15;
}

/// An entry in one of the owner's tables; 0 is none.
pub mod entry {
    /// The owner has it. Otherwise its bytes come along, and the owner keeps what it makes of them.
    pub const IS_KNOWN: u32 = 1;
    /// The bits by which its number is shifted.
    pub const NUMBER_SHIFT: u32 = 1;
}

/// Words of a header or trailer. Offsets count from the start of its block.
pub mod header {
    /// A pair: the number of a known name, or 0, and the length of the name.
    pub const NAME: usize = 0;
    /// Where the name lies.
    pub const NAME_OFFSET: usize = 1;
    /// Where the value lies.
    pub const VALUE_OFFSET: usize = 2;
    /// Its bytes.
    pub const VALUE_LENGTH: usize = 3;
    /// Where the next one begins.
    pub const WORDS: usize = 4;
    /// In the word of the name: a known one is written in lower case.
    pub const LOWER_CASE: u32 = 0x8000_0000;
}

/// Words of a piece of a body.
pub mod body {
    /// The request's number on the connection.
    pub const SEQUENCE: usize = 4;
    /// Where it lies.
    pub const OFFSET: usize = 5;
    /// Its bytes.
    pub const LENGTH: usize = 6;
}

/// Words of a body's end.
pub mod body_end {
    /// The request's number on the connection.
    pub const SEQUENCE: usize = 4;
    /// Where the block of trailers lies.
    pub const BLOCK_OFFSET: usize = 5;
    /// How many follow.
    pub const TRAILER_COUNT: usize = 6;
    /// Where the trailers begin.
    pub const TRAILERS: usize = 7;
}

/// Words of an error.
pub mod error {
    /// Which of the tables' problems it is.
    pub const PROBLEM: usize = 4;
    /// How many bytes were parsed.
    pub const BYTES_PARSED: usize = 5;
    /// Where the bytes lie among which the error is.
    pub const PACKET_OFFSET: usize = 6;
    /// How many there are.
    pub const PACKET_LENGTH: usize = 7;
    /// The refused request's number on the connection.
    pub const PLACE: usize = 8;
    /// Where the record ends.
    pub const WORDS: usize = 9;
    /// What is wrong is not about a request behind others.
    pub const NO_PLACE: u32 = 0xffff_ffff;
}

/// Words of a timeout.
pub mod timeout {
    /// 1 without any activity, 0 between two requests.
    pub const IS_INACTIVE: usize = 4;
}

/// Words of a connection's end.
pub mod close {
    /// What recv or send reported, or 0.
    pub const ERRNO: usize = 4;
}

/// Words of a dropped connection.
pub mod drop {
    /// Where the text lies: both ends as `address port`, remote NUL local.
    pub const TEXT_OFFSET: usize = 4;
    /// Its bytes.
    pub const TEXT_LENGTH: usize = 5;
}

/// Words of a note that lines wait.
pub mod lines {
    /// 1: they are to be taken at once; 0: before long.
    pub const ARE_DUE: usize = 4;
}

/// Words of the line of an answer that the owner has given. Its texts follow those of the line before.
pub mod owners_line {
    /// A pair: 1 for HEAD, 0 for GET, and the status.
    pub const IS_HEAD_AND_STATUS: usize = 0;
    /// Microseconds.
    pub const TOOK: usize = 1;
    /// Bytes of the target, which is printable.
    pub const URL_LENGTH: usize = 2;
    /// Bytes of the id behind it, 0 for none.
    pub const ID_LENGTH: usize = 3;
    /// Where the next one begins.
    pub const WORDS: usize = 4;
}

/// What the owner has to know once such lines are written.
pub mod owners_news {
    /// So many wait that they are to be taken at once, which it has not heard.
    pub const DUE: u32 = 1;
    /// So many wait that it has to write its lines itself until it takes some.
    pub const FULL: u32 = 1 << 1;
}

/// Flags of a request.
pub mod request_flags {
    /// It has no body.
    pub const BODY_NONE: u32 = 1;
    /// All of its body came with it.
    pub const BODY_COMPLETE: u32 = 1 << 1;
    /// Its body comes in chunks.
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

/// The words before the commands, which a thread beside the owner's may look at without the engine's lock.
pub mod outstanding {
    /// Where the commands end. The owner moves it, with every command.
    pub const WRITTEN: usize = 0;
    /// Where those begin that nobody has taken. The engine moves it; both go back only while the owner waits for the engine.
    pub const TAKEN: usize = 1;
    /// 1 while nobody checks for what is written: a writer then has to report it.
    pub const UNWATCHED: usize = 2;
    /// How often the owner's thread has had something taken.
    pub const FLUSHES: usize = 3;
    /// 1 while the kernel keeps ends of packets that only a flush sends.
    pub const CORKED: usize = 4;
    /// How many servers' lines wait: the owner takes them before it writes one that comes later.
    pub const LINES: usize = 5;
    /// Where the commands begin.
    pub const FIRST_COMMAND: usize = 6;
}

/// Words of a command.
pub mod command {
    /// A pair: what to do and its flags.
    pub const ACTION_AND_FLAGS: usize = 0;
    /// The connection's slot.
    pub const SLOT: usize = 1;
    /// Which of the connections that have had the slot.
    pub const GENERATION: usize = 2;
    /// The number of the request that is answered.
    pub const SEQUENCE: usize = 3;
    /// Where the bytes lie.
    pub const OFFSET: usize = 4;
    /// How many there are.
    pub const LENGTH: usize = 5;
    /// Where the next command begins.
    pub const WORDS: usize = 6;
    /// The only thing to do: write the bytes.
    pub const WRITE: u32 = 1;
}

/// Flags of a write.
pub mod write_flags {
    /// The bytes are one chunk.
    pub const CHUNK: u32 = 1;
    /// The response ends with it. With `CHUNK` the last chunk is added.
    pub const END: u32 = 1 << 1;
    /// With `END`: the connection closes once everything is sent.
    pub const CLOSE: u32 = 1 << 2;
    /// The bytes are trailer lines: the last chunk goes before them.
    pub const TRAILERS: u32 = 1 << 3;
    /// Outside the order of responses, behind everything that was written.
    pub const RAW: u32 = 1 << 4;
}

/// What became of an answer that was to be kept.
pub mod outcome {
    /// It is given from now on.
    pub const KEPT: u32 = 0;
    /// The next one is kept if it is the same.
    pub const FIRST: u32 = 1;
    /// The engine does not serve.
    pub const NOT_SERVED: u32 = 2;
    /// Its request was no GET.
    pub const METHOD: u32 = 3;
    /// Its status may not be kept.
    pub const STATUS: u32 = 4;
    /// It has headers that the engine writes.
    pub const HEADERS: u32 = 5;
    /// It sets a cookie.
    pub const SET_COOKIE: u32 = 6;
    /// It says itself that it may not be kept.
    pub const CACHE_CONTROL: u32 = 7;
    /// It varies on what its keeper does not know.
    pub const VARY: u32 = 8;
    /// It is not known whose it is.
    pub const CREDENTIALS: u32 = 9;
    /// What it is made of was dropped meanwhile.
    pub const DROPPED: u32 = 10;
    /// It is not the same as the last one.
    pub const CHANGES: u32 = 11;
    /// It is too large.
    pub const LARGE: u32 = 12;
    /// Too many others differ from it by varied headers alone.
    pub const VARIANTS: u32 = 13;
    /// The host of its request is not one.
    pub const HOST: u32 = 14;
    /// How many outcomes there are.
    pub const COUNT: usize = 15;
}

/// The counts of a store of answers.
pub mod answer_count {
    /// Requests that were answered.
    pub const HITS: usize = 0;
    /// Those of them that were answered while somebody made a new answer.
    pub const STALE_HITS: usize = 1;
    /// Those of them that were answered with 304.
    pub const NOT_MODIFIED: usize = 2;
    /// Answers that had to go for others.
    pub const EVICTED: usize = 3;
    /// Answers that were dropped.
    pub const DROPPED: usize = 4;
    /// Answers that are kept.
    pub const ANSWERS: usize = 5;
    /// What they take up, in bytes.
    pub const BYTES: usize = 6;
    /// What they may take up.
    pub const MAX_BYTES: usize = 7;
    /// Requests passed to the owner because the log had no room for their lines.
    pub const LOG_FULL: usize = 8;
    /// Where the counts of the outcomes begin.
    pub const OUTCOMES: usize = 9;
    /// Where they end.
    pub const WORDS: usize = 24;
    /// What they may take up unless the owner says otherwise.
    pub const DEFAULT_MAX_BYTES: usize = 64 << 20;
}

/// The content codings between which the engine chooses.
pub mod encoding {
    /// None.
    pub const IDENTITY: u32 = 0;
    /// Brotli.
    pub const BR: u32 = 1;
    /// Zstandard.
    pub const ZSTD: u32 = 2;
    /// gzip.
    pub const GZIP: u32 = 3;
    /// How many bits the number of each takes in a list of them.
    pub const BITS: u32 = 2;
    /// One of a list.
    pub const MASK: u32 = 3;
}

/// Whose an answer is.
pub mod identity {
    /// Anybody's who shows no credentials.
    pub const ANONYMOUS: u32 = 0;
    /// As before, where cookies are none.
    pub const ANY_COOKIES: u32 = 1;
    /// Everybody's.
    pub const PUBLIC: u32 = 2;
    /// Theirs who send the same value of the first header.
    pub const HEADER: u32 = 3;
    /// Theirs who send the same value of the first cookie.
    pub const COOKIE: u32 = 4;
}
