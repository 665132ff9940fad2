// Generated from crates/telemetry_ring/src/wire.rs by scripts/wire.mjs: change it there, and run npm run wire.

/** Words before the records. A position is a number of words since the ring was made, modulo 2^32. */
export const RING = {
  /** The layout that its maker knows: `LAYOUT`. */
  VERSION: 0,
  /** The facts that a writer reports: one of `level`. Changed by the ring's maker at any time. */
  LEVEL: 1,
  /** Number of records that did not fit. */
  LOST: 2,
  /** 1 while the reader sleeps: the writer that fills a quarter sets it to 0, and wakes the reader. */
  SLEEPS: 3,
  /** Start of the six words from which the ids of requests are derived. */
  SEED: 4,
  /** Position after the last record. Only the writer moves it. */
  WRITTEN: 16,
  /** Position of the first record that was not read. Only the reader moves it. */
  TAKEN: 32,
  /** Start of the records. Their number of words is a power of two. */
  FIRST_RECORD: 48,
  /** The layout that this file describes. */
  LAYOUT: 1,
} as const;

/** The facts that a writer reports. */
export const LEVEL = {
  /** None. */
  NOTHING: 0,
  /** All facts of requests but their heads. */
  FACTS: 1,
  /** Heads too. */
  HEADS: 2,
} as const;

/** The kind of a record: the first number of its first word. The second is the record's length in words. A time is two words: */
/** seconds of CLOCK_MONOTONIC, and nanoseconds. Bytes are padded to words. */
export const KIND = {
  /** The words up to the end of the ring are unused. */
  PAD: 1,
  /** A request was received. */
  BEGIN: 2,
  /** Its response was written. */
  END: 3,
  /** The client's system has taken all of a response that had ended before. */
  SENT: 4,
  /** A connection is closed, and with it what was under way. */
  CLOSE: 5,
  /** The other end of a connection, before its first request. */
  PEER: 6,
  /** Input was refused before it became a request. */
  REFUSED: 7,
  /** A text that later records name by its number. */
  TEXT: 8,
  /** A route that END names by its number. */
  ROUTE: 9,
  /** A span that has ended. */
  SPAN: 10,
  /** A change of a request's span. */
  CHANGE: 11,
} as const;

/** The second word of a time that a user gives. */
export const TIME = {
  /** Flag: the time counts from 1970 (CLOCK_REALTIME), as the user gave it. The other bits are the nanoseconds. */
  IS_EPOCH: 2147483648,
} as const;

/** The first word of a record: its kind, and its length in words. */
export const FIRST = {
  /** Mask of the kind. */
  KIND_MASK: 255,
  /** Shift of the length, in bits. */
  LENGTH_SHIFT: 8,
} as const;

/** Words of BEGIN. Connection and sequence identify a request among those of its ring. */
export const BEGIN = {
  /** The connection's slot. */
  SLOT: 1,
  /** The slot's generation. */
  GENERATION: 2,
  /** The request's number on its connection. */
  SEQUENCE: 3,
  /** The time at which its head was complete. */
  READ_AT: 4,
  /** Length of its first line in bytes, without the version and the line end: `METHOD target`, or at level FACTS the method alone. */
  LINE_LENGTH: 6,
  /** Length of the header lines in bytes, each with its CRLF. They follow the line; none at level FACTS. */
  BLOCK_LENGTH: 7,
  /** Bits, each one of the flags below. */
  FLAGS: 8,
  /** Start of the bytes. */
  BYTES: 9,
  /** Flag: HTTP/1.0. */
  HTTP_10: 1,
  /** Flag: the connection is encrypted. */
  IS_TLS: 2,
} as const;

/** Words of END. */
export const END = {
  /** The connection's slot. */
  SLOT: 1,
  /** The slot's generation. */
  GENERATION: 2,
  /** The request's number on its connection. */
  SEQUENCE: 3,
  /** The status, from bit 22 on, and the route's number or 0. */
  STATUS_AND_ROUTE: 4,
  /** The time at which the last byte was written by its maker. */
  ENDED_AT: 5,
  /** The time at which the client's system had taken all bytes; seconds 0 if it has not, and SENT or CLOSE follows. */
  SENT_AT: 7,
  /** Bits, each one of the flags below. */
  FLAGS: 9,
  /** Size in words. */
  WORDS: 10,
  /** Shift of the status. */
  STATUS_SHIFT: 22,
  /** Max number of a route. */
  MAX_ROUTE: 4194303,
  /** Flag: the engine has sent a kept response. */
  IS_KEPT: 1,
  /** Flag: the connection was given to another protocol. */
  IS_UPGRADE: 2,
} as const;

/** Words of SENT and CLOSE. */
export const CLOSE = {
  /** The connection's slot. */
  SLOT: 1,
  /** The slot's generation. */
  GENERATION: 2,
  /** The time. */
  AT: 3,
  /** The error of recv or send, or 0. */
  ERRNO: 5,
  /** Size in words. */
  WORDS: 6,
} as const;

/** Words of PEER. */
export const PEER = {
  /** The connection's slot. */
  SLOT: 1,
  /** The slot's generation. */
  GENERATION: 2,
  /** The port of the other end, 0 for a Unix socket. */
  PORT: 3,
  /** Length of its address in bytes. */
  LENGTH: 4,
  /** Start of these bytes. */
  BYTES: 5,
} as const;

/** Words of REFUSED. */
export const REFUSED = {
  /** The connection's slot. */
  SLOT: 1,
  /** The slot's generation. */
  GENERATION: 2,
  /** The time at which its first byte was received. */
  READ_AT: 3,
  /** The time at which it was refused. */
  REFUSED_AT: 5,
  /** The status of Node's own response: 400, 408, 413 or 431. */
  STATUS: 7,
  /** Length of the error's code in bytes. */
  LENGTH: 8,
  /** Start of these bytes. */
  BYTES: 9,
} as const;

/** Words of TEXT. */
export const TEXT = {
  /** Its number, from 1 on. */
  NUMBER: 1,
  /** Its length in bytes of UTF-8. */
  LENGTH: 2,
  /** Start of these bytes. */
  BYTES: 3,
} as const;

/** Words of ROUTE. */
export const ROUTE = {
  /** Its number, from 1 on. */
  NUMBER: 1,
  /** Length of its pattern, as `http.route` has it, in bytes of UTF-8. */
  LENGTH: 2,
  /** Start of these bytes. */
  BYTES: 3,
} as const;

/** Words of SPAN, followed by its fields, one after another: the text of its name; of its instrumentation scope, as `name`, NUL, */
/** `version`, NUL, `schema URL`; of the status's message; of the trace state; the number of attributes, and these; the number of */
/** events, and these; the number of links, and these; the numbers of attributes, events and links that a limit dropped. */
/** A text is one word, twice its number plus 1, or twice its length followed by its bytes. An attribute is the text of its key, and */
/** a value: a word of `value`, and its words. An event is a time, the text of its name, the number of its attributes, and these. */
/** A link is the four words of a trace id, the two of a span id, its flags, the text of its trace state, the number of its */
/** attributes, and these. The number of attributes of an event or a link has, from bit `DROPPED_SHIFT` on, the number of those that */
/** a limit dropped. */
export const SPAN = {
  /** The trace id: four words, each eight digits of it. */
  TRACE_ID: 1,
  /** The span id: two words. */
  SPAN_ID: 5,
  /** The parent's span id: two words, both 0 for none. */
  PARENT_ID: 7,
  /** The kind of OTLP, from 1 (internal) to 5. */
  KIND: 9,
  /** The status of OTLP: 0 unset, 1 ok, 2 error. */
  STATUS: 10,
  /** The flags of OTLP: trace flags, and bits 8 and 9 for a remote parent. */
  FLAGS: 11,
  /** The time of its start. */
  STARTED_AT: 12,
  /** The time of its end. */
  ENDED_AT: 14,
  /** Start of the fields. */
  FIELDS: 16,
  /** Shift of the number of attributes that were dropped from an event or a link. */
  DROPPED_SHIFT: 16,
} as const;

/** The first word of a value. */
export const VALUE = {
  /** A boolean. */
  FALSE: 0,
  /** A boolean. */
  TRUE: 1,
  /** An integer: two words of 64 bits, the lower first. */
  INTEGER: 2,
  /** A floating-point number: likewise. */
  DOUBLE: 3,
  /** A text. */
  TEXT: 4,
  /** The number of values that follow, and these. */
  ARRAY: 5,
  /** A value that is null, or missing from an array. */
  NOTHING: 6,
  /** Bytes: their number, and these. */
  BYTES: 7,
  /** A map: the number of its entries, and for each the text of its key, and a value. */
  MAP: 8,
  /** Max depth of a value: those in an array or a map are one deeper, and what is deeper still is written as nothing. */
  MAX_DEPTH: 32,
} as const;

/** Words of CHANGE, followed by the fields that its operation names. */
export const CHANGE = {
  /** The connection's slot. */
  SLOT: 1,
  /** The slot's generation. */
  GENERATION: 2,
  /** The request's number on its connection. */
  SEQUENCE: 3,
  /** One of the operations below. */
  OPERATION: 4,
  /** Start of its fields. */
  FIELDS: 5,
  /** Sets attributes: their number, and these. */
  ATTRIBUTES: 1,
  /** Replaces the name: its text. */
  NAME: 2,
  /** Sets the status: its number, and the text of its message. */
  STATUS: 3,
  /** Adds an event. */
  EVENT: 4,
  /** Adds a link. */
  LINK: 5,
  /** Decides on sampling: 1 to record the span, 0 to drop it. */
  SAMPLED: 6,
  /** Replaces the route: its number. */
  ROUTE: 7,
} as const;
