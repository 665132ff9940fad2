// Generated from crates/http_engine/src/wire.rs by scripts/wire.mjs: change it there, and run npm run wire.

/** What a record is about: the first number of its first word. */
export const KIND = {
  /** A connection came. */
  OPEN: 1,
  /** A request, with what there is of its body. */
  REQUEST: 2,
  /** A piece of a body. */
  BODY: 3,
  /** A body is complete. */
  BODY_END: 4,
  /** The kernel has taken everything that was written. */
  DRAIN: 5,
  /** What a client sent cannot be parsed, or took too long. */
  ERROR: 6,
  /** A connection has been inactive for as long as it may be. */
  TIMEOUT: 7,
  /** A connection is gone. */
  CLOSE: 8,
  /** A connection was dropped, because their number is at its limit. */
  DROP: 9,
  /** The last connection of a server that was stopped is gone. */
  STOPPED: 10,
  /** A client ended its side while answers are due. */
  END: 11,
  /** Lines of the engine's own answers wait. */
  LINES: 12,
  /** A part of a file has left, or goes no further. */
  FILE: 13,
} as const;

/** A word of two numbers. */
export const PAIR = {
  /** Masks the first. */
  FIRST_MASK: 255,
  /** The bits by which the second is shifted. */
  SECOND_SHIFT: 8,
} as const;

/** How every record begins. */
export const RECORD = {
  /** A pair: its kind and its length in words. */
  KIND_AND_LENGTH: 0,
  /** The connection's slot. */
  SLOT: 1,
  /** Which of the connections that have had the slot. */
  GENERATION: 2,
  /** The server's number. */
  SERVER: 3,
  /** Where the words of its kind begin. */
  WORDS: 4,
} as const;

/** Words of a request. */
export const REQUEST = {
  /** Its number on the connection. */
  SEQUENCE: 4,
  /** A pair: the method's number and the request's flags. */
  METHOD_AND_FLAGS: 5,
  /** The URL's entry in the owner's table. */
  URL: 6,
  /** Where the URL lies, unless its entry is known. */
  URL_OFFSET: 7,
  /** Its bytes. */
  URL_LENGTH: 8,
  /** The header block's entry in the owner's table. */
  BLOCK: 9,
  /** Where the header block lies, unless its entry is known. */
  BLOCK_OFFSET: 10,
  /** Its bytes. */
  BLOCK_LENGTH: 11,
  /** How many headers follow, unless the block's entry is known. */
  HEADER_COUNT: 12,
  /** Where the first bytes of the body lie. */
  BODY_OFFSET: 13,
  /** How many there are. */
  BODY_LENGTH: 14,
  /** Where the headers begin. */
  HEADERS: 15,
} as const;

/** An entry in one of the owner's tables; 0 is none. */
export const ENTRY = {
  /** The owner has it. Otherwise its bytes come along, and the owner keeps what it makes of them. */
  IS_KNOWN: 1,
  /** The bits by which its number is shifted. */
  NUMBER_SHIFT: 1,
} as const;

/** Words of a header or trailer. Offsets count from the start of its block. */
export const HEADER = {
  /** A pair: the number of a known name, or 0, and the length of the name. */
  NAME: 0,
  /** Where the name lies. */
  NAME_OFFSET: 1,
  /** Where the value lies. */
  VALUE_OFFSET: 2,
  /** Its bytes. */
  VALUE_LENGTH: 3,
  /** Where the next one begins. */
  WORDS: 4,
  /** In the word of the name: a known one is written in lower case. */
  LOWER_CASE: 2147483648,
} as const;

/** Words of a piece of a body. */
export const BODY = {
  /** The request's number on the connection. */
  SEQUENCE: 4,
  /** Where it lies. */
  OFFSET: 5,
  /** Its bytes. */
  LENGTH: 6,
} as const;

/** Words of a body's end. */
export const BODY_END = {
  /** The request's number on the connection. */
  SEQUENCE: 4,
  /** Where the block of trailers lies. */
  BLOCK_OFFSET: 5,
  /** How many follow. */
  TRAILER_COUNT: 6,
  /** Where the trailers begin. */
  TRAILERS: 7,
} as const;

/** Words of an error. */
export const ERROR = {
  /** Which of the tables' problems it is. */
  PROBLEM: 4,
  /** How many bytes were parsed. */
  BYTES_PARSED: 5,
  /** Where the bytes lie among which the error is. */
  PACKET_OFFSET: 6,
  /** How many there are. */
  PACKET_LENGTH: 7,
  /** The refused request's number on the connection. */
  PLACE: 8,
  /** Where the record ends. */
  WORDS: 9,
  /** What is wrong is not about a request behind others. */
  NO_PLACE: 4294967295,
} as const;

/** Words of a timeout. */
export const TIMEOUT = {
  /** 1 without any activity, 0 between two requests. */
  IS_INACTIVE: 4,
} as const;

/** Words of a connection's end. */
export const CLOSE = {
  /** What recv or send reported, or 0. */
  ERRNO: 4,
} as const;

/** Words of a dropped connection. */
export const DROP = {
  /** Where the text lies: both ends as `address port`, remote NUL local. */
  TEXT_OFFSET: 4,
  /** Its bytes. */
  TEXT_LENGTH: 5,
} as const;

/** Words of a note that lines wait. */
export const LINES = {
  /** 1: they are to be taken at once; 0: before long. */
  ARE_DUE: 4,
} as const;

/** Words of the line of an answer that the owner has given. Its texts follow those of the line before. */
export const OWNERS_LINE = {
  /** A pair: 1 for HEAD, 0 for GET, and the status. */
  IS_HEAD_AND_STATUS: 0,
  /** Microseconds. */
  TOOK: 1,
  /** Bytes of the target, which is printable. */
  URL_LENGTH: 2,
  /** Bytes of the id behind it, 0 for none. */
  ID_LENGTH: 3,
  /** Where the next one begins. */
  WORDS: 4,
} as const;

/** What the owner has to know once such lines are written. */
export const OWNERS_NEWS = {
  /** So many wait that they are to be taken at once, which it has not heard. */
  DUE: 1,
  /** So many wait that it has to write its lines itself until it takes some. */
  FULL: 2,
} as const;

/** Flags of a request. */
export const REQUEST_FLAGS = {
  /** It has no body. */
  BODY_NONE: 1,
  /** All of its body came with it. */
  BODY_COMPLETE: 2,
  /** Its body comes in chunks. */
  BODY_CHUNKED: 4,
  /** The client wants to keep the connection. */
  KEEP_ALIVE: 8,
  /** HTTP/1.0. */
  HTTP_10: 16,
  /** `Expect: 100-continue`. */
  EXPECT_CONTINUE: 32,
  /** Another `Expect`. */
  EXPECT_OTHER: 64,
  /** `Connection: upgrade` with an `Upgrade` header. */
  UPGRADE: 128,
  /** The method is CONNECT. */
  CONNECT: 256,
  /** HTTP/1.1 without a `Host` header. */
  HOST_MISSING: 512,
} as const;

/** The words before the commands, which a thread beside the owner's may look at without the engine's lock. */
export const OUTSTANDING = {
  /** Where the commands end. The owner moves it, with every command. */
  WRITTEN: 0,
  /** Where those begin that nobody has taken. The engine moves it; both go back only while the owner waits for the engine. */
  TAKEN: 1,
  /** 1 while nobody checks for what is written: a writer then has to report it. */
  UNWATCHED: 2,
  /** How often the owner's thread has had something taken. */
  FLUSHES: 3,
  /** 1 while the kernel keeps ends of packets that only a flush sends. */
  CORKED: 4,
  /** How many servers' lines wait: the owner takes them before it writes one that comes later. */
  LINES: 5,
  /** Where the commands begin. */
  FIRST_COMMAND: 6,
} as const;

/** Words of a command. */
export const COMMAND = {
  /** A pair: what to do and its flags. */
  ACTION_AND_FLAGS: 0,
  /** The connection's slot. */
  SLOT: 1,
  /** Which of the connections that have had the slot. */
  GENERATION: 2,
  /** The number of the request that is answered. */
  SEQUENCE: 3,
  /** Where the bytes lie. */
  OFFSET: 4,
  /** How many there are. */
  LENGTH: 5,
  /** Where the next command begins. */
  WORDS: 6,
  /** The only thing to do: write the bytes. */
  WRITE: 1,
} as const;

/** Flags of a write. */
export const WRITE_FLAGS = {
  /** The bytes are one chunk. */
  CHUNK: 1,
  /** The response ends with it. With `CHUNK` the last chunk is added. */
  END: 2,
  /** With `END`: the connection closes once everything is sent. */
  CLOSE: 4,
  /** The bytes are trailer lines: the last chunk goes before them. */
  TRAILERS: 8,
  /** Outside the order of responses, behind everything that was written. */
  RAW: 16,
} as const;

/** What became of an answer that was to be kept. */
export const OUTCOME = {
  /** It is given from now on. */
  KEPT: 0,
  /** The next one is kept if it is the same. */
  FIRST: 1,
  /** The engine does not serve. */
  NOT_SERVED: 2,
  /** Its request was no GET. */
  METHOD: 3,
  /** Its status may not be kept. */
  STATUS: 4,
  /** It has headers that the engine writes. */
  HEADERS: 5,
  /** It sets a cookie. */
  SET_COOKIE: 6,
  /** It says itself that it may not be kept. */
  CACHE_CONTROL: 7,
  /** It varies on what its keeper does not know. */
  VARY: 8,
  /** It is not known whose it is. */
  CREDENTIALS: 9,
  /** What it is made of was dropped meanwhile. */
  DROPPED: 10,
  /** It is not the same as the last one. */
  CHANGES: 11,
  /** It is too large. */
  LARGE: 12,
  /** Too many others differ from it by varied headers alone. */
  VARIANTS: 13,
  /** The host of its request is not one. */
  HOST: 14,
  /** How many outcomes there are. */
  COUNT: 15,
} as const;

/** The counts of a store of answers. */
export const ANSWER_COUNT = {
  /** Requests that were answered. */
  HITS: 0,
  /** Those of them that were answered while somebody made a new answer. */
  STALE_HITS: 1,
  /** Those of them that were answered with 304. */
  NOT_MODIFIED: 2,
  /** Answers that had to go for others. */
  EVICTED: 3,
  /** Answers that were dropped. */
  DROPPED: 4,
  /** Answers that are kept. */
  ANSWERS: 5,
  /** What they take up, in bytes. */
  BYTES: 6,
  /** What they may take up. */
  MAX_BYTES: 7,
  /** Requests passed to the owner because the log had no room for their lines. */
  LOG_FULL: 8,
  /** Where the counts of the outcomes begin. */
  OUTCOMES: 9,
  /** Where they end. */
  WORDS: 24,
  /** What they may take up unless the owner says otherwise. */
  DEFAULT_MAX_BYTES: 67108864,
} as const;

/** The content codings between which the engine chooses. */
export const ENCODING = {
  /** None. */
  IDENTITY: 0,
  /** Brotli. */
  BR: 1,
  /** Zstandard. */
  ZSTD: 2,
  /** gzip. */
  GZIP: 3,
  /** How many bits the number of each takes in a list of them. */
  BITS: 2,
  /** One of a list. */
  MASK: 3,
} as const;

/** Whose an answer is. */
export const IDENTITY = {
  /** Anybody's who shows no credentials. */
  ANONYMOUS: 0,
  /** As before, where cookies are none. */
  ANY_COOKIES: 1,
  /** Everybody's. */
  PUBLIC: 2,
  /** Theirs who send the same value of the first header. */
  HEADER: 3,
  /** Theirs who send the same value of the first cookie. */
  COOKIE: 4,
} as const;
