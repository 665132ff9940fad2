// Generated from crates/http_engine/src/wire.rs by scripts/wire.mjs: change it there, and run npm run wire.

/** The kind of a record: the first number of its first word. */
export const KIND = {
  /** A connection was opened. */
  OPEN: 1,
  /** A request, with the available part of its body. */
  REQUEST: 2,
  /** A piece of a body. */
  BODY: 3,
  /** A body is complete. */
  BODY_END: 4,
  /** The kernel has taken all written bytes. */
  DRAIN: 5,
  /** A client's input cannot be parsed, or took too long. */
  ERROR: 6,
  /** A connection has reached its inactivity limit. */
  TIMEOUT: 7,
  /** A connection is closed. */
  CLOSE: 8,
  /** A connection was dropped, because their number is at its limit. */
  DROP: 9,
  /** The last connection of a stopped server is closed. */
  STOPPED: 10,
  /** A client ended its side while responses are due. */
  END: 11,
  /** Log lines of the engine's own responses are waiting. */
  LINES: 12,
  /** A file range was sent, or cannot continue. */
  FILE: 13,
} as const;

/** A word of two numbers. */
export const PAIR = {
  /** Mask of the first. */
  FIRST_MASK: 255,
  /** Shift of the second, in bits. */
  SECOND_SHIFT: 8,
} as const;

/** The start of every record. */
export const RECORD = {
  /** A pair: its kind and its length in words. */
  KIND_AND_LENGTH: 0,
  /** The connection's slot. */
  SLOT: 1,
  /** The slot's generation, which identifies the connection. */
  GENERATION: 2,
  /** The server's number. */
  SERVER: 3,
  /** Start of the words of its kind. */
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
  /** Offset of the URL, unless its entry is known. */
  URL_OFFSET: 7,
  /** Length of the URL in bytes. */
  URL_LENGTH: 8,
  /** The header block's entry in the owner's table. */
  BLOCK: 9,
  /** Offset of the header block, unless its entry is known. */
  BLOCK_OFFSET: 10,
  /** Length of the header block in bytes. */
  BLOCK_LENGTH: 11,
  /** Number of headers that follow, unless the block's entry is known. */
  HEADER_COUNT: 12,
  /** Offset of the first bytes of the body. */
  BODY_OFFSET: 13,
  /** Number of these bytes. */
  BODY_LENGTH: 14,
  /** Start of the headers. */
  HEADERS: 15,
} as const;

/** An entry in one of the owner's tables; 0 for none. */
export const ENTRY = {
  /** Set if the owner has it. Otherwise the record includes its bytes, and the owner keeps the result of parsing them. */
  IS_KNOWN: 1,
  /** Shift of its number, in bits. */
  NUMBER_SHIFT: 1,
} as const;

/** Words of a header or trailer. Offsets count from the start of its block. */
export const HEADER = {
  /** A pair: the number of a known name, or 0, and the length of the name. */
  NAME: 0,
  /** Offset of the name. */
  NAME_OFFSET: 1,
  /** Offset of the value. */
  VALUE_OFFSET: 2,
  /** Length of the value in bytes. */
  VALUE_LENGTH: 3,
  /** Size of a header in words. */
  WORDS: 4,
  /** Flag in the word of the name: a known name is written in lower case. */
  LOWER_CASE: 2147483648,
} as const;

/** Words of a piece of a body. */
export const BODY = {
  /** The request's number on the connection. */
  SEQUENCE: 4,
  /** Offset of the piece. */
  OFFSET: 5,
  /** Its length in bytes. */
  LENGTH: 6,
} as const;

/** Words of a body's end. */
export const BODY_END = {
  /** The request's number on the connection. */
  SEQUENCE: 4,
  /** Offset of the block of trailers. */
  BLOCK_OFFSET: 5,
  /** Number of trailers that follow. */
  TRAILER_COUNT: 6,
  /** Start of the trailers. */
  TRAILERS: 7,
} as const;

/** Words of an error. */
export const ERROR = {
  /** Index of the problem in the tables. */
  PROBLEM: 4,
  /** Number of bytes parsed. */
  BYTES_PARSED: 5,
  /** Offset of the bytes that contain the error. */
  PACKET_OFFSET: 6,
  /** Number of these bytes. */
  PACKET_LENGTH: 7,
  /** The refused request's number on the connection. */
  PLACE: 8,
  /** Size of the record in words. */
  WORDS: 9,
  /** The error does not concern a request after others. */
  NO_PLACE: 4294967295,
} as const;

/** Words of a timeout. */
export const TIMEOUT = {
  /** 1 without any activity, 0 between two requests. */
  IS_INACTIVE: 4,
} as const;

/** Words of a closed connection. */
export const CLOSE = {
  /** The error of recv or send, or 0. */
  ERRNO: 4,
} as const;

/** Words of a dropped connection. */
export const DROP = {
  /** Offset of the text: both ends as `address port`, remote NUL local. */
  TEXT_OFFSET: 4,
  /** Its length in bytes. */
  TEXT_LENGTH: 5,
} as const;

/** Words of the record of waiting log lines. */
export const LINES = {
  /** 1: the owner should take them at once; 0: before long. */
  ARE_DUE: 4,
} as const;

/** Words of the log line of a response made by the owner. Its texts follow those of the line before. */
export const OWNERS_LINE = {
  /** A pair: 1 for HEAD, 0 for GET, and the status. */
  IS_HEAD_AND_STATUS: 0,
  /** Response time in microseconds. */
  TOOK: 1,
  /** Bytes of the target, which is printable. */
  URL_LENGTH: 2,
  /** Bytes of the id after it, 0 for none. */
  ID_LENGTH: 3,
  /** Size of a line in words. */
  WORDS: 4,
} as const;

/** News for the owner after such lines are written. */
export const OWNERS_NEWS = {
  /** So many wait that the owner should take them at once; it has not been notified yet. */
  DUE: 1,
  /** So many wait that the owner must write its lines itself until it takes some. */
  FULL: 2,
} as const;

/** Flags of a request. */
export const REQUEST_FLAGS = {
  /** No body. */
  BODY_NONE: 1,
  /** The record contains the whole body. */
  BODY_COMPLETE: 2,
  /** A chunked body. */
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

/** The words before the commands, which a thread beside the owner's may read without the engine's lock. */
export const OUTSTANDING = {
  /** End of the commands. The owner moves it, with every command. */
  WRITTEN: 0,
  /** Start of the commands not yet taken. Written by the engine; both are reset only while the owner waits for the engine. */
  TAKEN: 1,
  /** 1 while no thread checks for writes: a writer must then report them. */
  UNWATCHED: 2,
  /** Number of flushes by the owner's thread. */
  FLUSHES: 3,
  /** 1 while the kernel holds back partial packets that only a flush sends. */
  CORKED: 4,
  /** Number of servers with waiting lines: the owner takes them before it writes a later one. */
  LINES: 5,
  /** Start of the commands. */
  FIRST_COMMAND: 6,
} as const;

/** Words of a command. */
export const COMMAND = {
  /** A pair: the action and its flags. */
  ACTION_AND_FLAGS: 0,
  /** The connection's slot. */
  SLOT: 1,
  /** The slot's generation, which identifies the connection. */
  GENERATION: 2,
  /** The number of the request that the response belongs to. */
  SEQUENCE: 3,
  /** Offset of the bytes. */
  OFFSET: 4,
  /** Number of bytes. */
  LENGTH: 5,
  /** With the last command of a response: its status above its route's number. 0 otherwise, and without an observer. */
  FACTS: 6,
  /** Size of a command in words. */
  WORDS: 7,
  /** Shift of the status in the facts, in bits. */
  STATUS_SHIFT: 22,
  /** The only action: write the bytes. */
  WRITE: 1,
} as const;

/** Flags of a write. */
export const WRITE_FLAGS = {
  /** The bytes are one chunk. */
  CHUNK: 1,
  /** The response ends with these bytes. With `CHUNK` the last chunk is added. */
  END: 2,
  /** With `END`: the connection closes once everything is sent. */
  CLOSE: 4,
  /** The bytes are trailer lines: the last chunk precedes them. */
  TRAILERS: 8,
  /** Outside the order of responses, after everything that was written. */
  RAW: 16,
} as const;

/** The outcome of keeping a response. */
export const OUTCOME = {
  /** It is kept, and sent from now on. */
  KEPT: 0,
  /** The next one is kept if it is the same. */
  FIRST: 1,
  /** The engine does not respond by itself. */
  NOT_SERVED: 2,
  /** Its request was not a GET. */
  METHOD: 3,
  /** Its status must not be kept. */
  STATUS: 4,
  /** It has headers that the engine writes. */
  HEADERS: 5,
  /** It sets a cookie. */
  SET_COOKIE: 6,
  /** It forbids keeping itself. */
  CACHE_CONTROL: 7,
  /** It varies on something that its keeper does not know. */
  VARY: 8,
  /** Its identity is unknown. */
  CREDENTIALS: 9,
  /** The data it is made from was dropped meanwhile. */
  DROPPED: 10,
  /** It differs from the last one. */
  CHANGES: 11,
  /** It is too large. */
  LARGE: 12,
  /** Too many others differ from it by varied headers alone. */
  VARIANTS: 13,
  /** The `Host` of its request is not a host. */
  HOST: 14,
  /** Number of outcomes. */
  COUNT: 15,
} as const;

/** The counts of a response store. */
export const ANSWER_COUNT = {
  /** Requests with a response from the store. */
  HITS: 0,
  /** Hits with a stale response, while another request renewed it. */
  STALE_HITS: 1,
  /** Hits with status 304. */
  NOT_MODIFIED: 2,
  /** Responses evicted for others. */
  EVICTED: 3,
  /** Responses that were dropped. */
  DROPPED: 4,
  /** Kept responses. */
  ANSWERS: 5,
  /** Their memory in bytes. */
  BYTES: 6,
  /** Max memory in bytes. */
  MAX_BYTES: 7,
  /** Requests passed to the owner because the log had no room for their lines. */
  LOG_FULL: 8,
  /** Start of the counts of the outcomes. */
  OUTCOMES: 9,
  /** End of these counts. */
  WORDS: 24,
  /** Default max memory, in bytes. */
  DEFAULT_MAX_BYTES: 67108864,
} as const;

/** The content codings between which the engine chooses. */
export const ENCODING = {
  /** No coding. */
  IDENTITY: 0,
  /** Brotli. */
  BR: 1,
  /** Zstandard. */
  ZSTD: 2,
  /** gzip. */
  GZIP: 3,
  /** Bits of each number in a list of codings. */
  BITS: 2,
  /** Mask of one number in a list. */
  MASK: 3,
} as const;

/** The identity that a response belongs to. */
export const IDENTITY = {
  /** Any client without credentials. */
  ANONYMOUS: 0,
  /** The same, if cookies are not credentials. */
  ANY_COOKIES: 1,
  /** Any client. */
  PUBLIC: 2,
  /** Clients that send the same value of the first header. */
  HEADER: 3,
  /** Clients that send the same value of the first cookie. */
  COOKIE: 4,
} as const;
