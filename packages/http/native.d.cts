// Generated from crates/http_node by scripts/build-native.mjs: change it there.

/** @throws Where no addon loads; the message is one clause that says why. */
export declare function loadAddon(): Addon;

export interface Addon {
  readonly tables: typeof tables;
  readonly Port: typeof Port;
}

/** The tables of the engine. */
declare function tables(): Tables;

/** An HTTP/1.1 engine in this environment's loop. */
declare class Port {
  /**
   * How the lines of a server's own answers look. Without a plan none are written. Returns the bytes of the longest target of
   * which JavaScript may have a line written.
   */
  logLines(server: number, plan?: LinePlan | undefined | null): number;
  /** Moves the oldest lines, whole ones, to `into` from `offset` on: how many bytes. */
  takeLines(server: number, into: Buffer, offset: number): number;
  /**
   * Writes the lines of answers that JavaScript has given. `records` has an `OWNERS_LINE` for each, `texts` their targets and
   * ids, which it has checked. Returns flags of `OWNERS_NEWS`.
   */
  writeOwnersLines(server: number, records: Uint32Array, count: number, texts: Buffer): number;
  /** From here on every request of which a line is due is reported. */
  holdAnswers(server: number): void;
  /**
   * Opens the environment's engine. `memory` has the arrays of `docs/design/http.md`; `onBatch` gets from
   * where to where words of `records` are to be read, and says how far it has read. With `threaded` the engine has a thread of its own.
   */
  constructor(memory: { records: Uint32Array; input: Uint8Array; commands: Uint32Array; output: Uint8Array; pending: Uint32Array }, threaded: boolean, onBatch: (from: number, words: number) => number);
  /** The server's number, or a negative error number. With `proxies` it serves their connections alone. */
  listen(options: ListenOptions, settings: ServerSettings, proxies?: Array<string> | undefined | null): number;
  /** Makes a server whose connections are handed to `adopt`: its number, or a negative error number. */
  serve(settings: ServerSettings, proxies?: Array<string> | undefined | null): number;
  /** Changes a server's settings. */
  configure(server: number, settings: ServerSettings): void;
  /** Where a server listens. */
  address(server: number): SocketAddress | null;
  /** Stops listening. */
  stop(server: number): void;
  /** Closes connections between two requests, and `with_unused` those that have sent nothing. */
  closeIdle(server: number, withUnused: boolean): void;
  /** Closes all connections. */
  closeAll(server: number): void;
  /**
   * Lets a server answer by itself, out of a store of so many bytes; with `isShared` out of the one that the process has for
   * its address.
   */
  openAnswers(server: number, maxBytes: number, isShared: boolean): void;
  /** Leaves everything to JavaScript again. */
  closeAnswers(server: number): void;
  /** The time of the last drop: to be taken before what an answer is made of is read. */
  ticket(): number;
  /** Keeps an answer, and says what became of it. */
  keep(server: number, fill: Fill): number;
  /** Counts an answer that was not worth the crossing. */
  countOutcome(server: number, outcome: number): void;
  /** Drops the answers to a target. */
  dropTarget(server: number, target: string): void;
  /** Drops the answers with one of the tags. */
  dropTags(server: number, tags: Array<string>): void;
  /** Drops all answers. */
  clearAnswers(server: number): void;
  /** What became of answers and requests; empty when the server answers nothing by itself. */
  answerCounts(server: number): Array<number>;
  /** Connections of a server. */
  connectionCount(server: number): number;
  /** How many servers keep the loop alive. */
  setReferencedServers(count: number): void;
  /**
   * Serves a connection accepted elsewhere, on a copy of its descriptor, which stays the caller's. Returns false when no
   * descriptor is left, or it is not one of a connection.
   */
  adopt(server: number, fd: number): boolean;
  /** Sends what was written to the shared memory. */
  flush(): void;
  /** Something was written while nobody checked for it. */
  watch(): void;
  /** Writes at once: how many bytes the kernel has not taken, -1 when the connection is gone. */
  write(slot: number, generation: number, sequence: number, flags: number, data: Uint8Array): number;
  /** Sends a part of a file: how many bytes have left when it is over at once, nothing while it is under way. */
  sendFile(slot: number, generation: number, sequence: number, range: FileRange): number | null;
  /** Ends the part of a file that is under way, if any: how many bytes of the last one have left. */
  endFile(slot: number, generation: number): number;
  /** Closes at once, and says how many bytes the kernel has not taken. */
  close(slot: number, generation: number, reset: boolean): number;
  /** Stops reporting the body. */
  pause(slot: number, generation: number): void;
  /** Goes on reporting the body. */
  resume(slot: number, generation: number): void;
  /** Whether a connection keeps the loop alive while it is read. */
  setReferenced(slot: number, generation: number, isReferenced: boolean): void;
  /** Discards the rest of the body. */
  discardBody(slot: number, generation: number): void;
  /** Reports the client's end to the owner before the connection is closed for it. */
  announceEnd(slot: number, generation: number): void;
  /** Gives a connection away. */
  detach(slot: number, generation: number): Detached | null;
  /** Inactivity timeout of a connection. */
  setTimeout(slot: number, generation: number, timeoutMs: number): void;
  /** TCP_NODELAY of a connection. */
  setNoDelay(slot: number, generation: number, on: boolean): void;
  /** SO_KEEPALIVE of a connection. */
  setKeepAlive(slot: number, generation: number, on: boolean, seconds: number): void;
  /** The far end. */
  remote(slot: number, generation: number): SocketAddress | null;
  /** The near end. */
  local(slot: number, generation: number): SocketAddress | null;
  /** What the proxy of a connection has said. */
  proxyHeader(slot: number, generation: number): ProxyHeader | null;
  /** Bytes read from a connection. */
  bytesRead(slot: number, generation: number): number;
  /** Bytes written to a connection. */
  bytesWritten(slot: number, generation: number): number;
  /** Makes an uncaught exception of `error`, at once. */
  report(error: unknown): void;
}

/** A connection that is given away. */
export interface Detached {
  /** Its descriptor. */
  fd: number;
  /** What was read behind the head. */
  head: Buffer;
}

/** A part of a file. */
export interface FileRange {
  /** The descriptor. */
  fd: number;
  /** Its first byte, or -1 for the descriptor's own position. */
  at: number;
  /** How many bytes at the most. */
  length: number;
  /** The bytes of a chunk; 0 without chunks. */
  chunk: number;
  /** The device of the file, as `fs.fstatSync` gives it. */
  device: number;
  /** Its number there. */
  inode: number;
}

/** An answer to be kept. Texts are of characters up to U+00FF, as they are sent. */
export interface Fill {
  /** The exact target it answers. */
  target: string;
  /** Whose it is: one of `IDENTITY`. */
  identity: number;
  /** What else of a request it depends on: the header or cookie of its identity, and headers in lower case. */
  names: Array<string>;
  /** Their values in its own request. */
  values: Array<string | undefined | null>;
  /** The codings between which accept-encoding chooses, if it is one of the names: a list of `ENCODING`. */
  encodings: number;
  /** Its status. */
  status: number;
  /** The status line and the headers before `Date`, each ended by CRLF. */
  head: string;
  /** Headers behind `Connection`. */
  tail: string;
  /** The status line and headers of its 304; empty without an ETag. */
  notModified: string;
  /** Its ETag, or empty. */
  etag: string;
  /** It has a `Last-Modified`. */
  hasLastModified: boolean;
  /** The body. */
  body: Uint8Array;
  /** How long it is valid. */
  freshMs: number;
  /** How long it may be sent behind that. */
  staleMs: number;
  /** What it is made of. */
  tags: Array<string>;
  /** When it was begun; now, when it is missing. */
  ticket?: number;
  /** It is kept only if the last one was the same. */
  isOffer: boolean;
  /** Which line is written for it; 0 is none. */
  line: number;
}

/** The pieces of the lines of a server's own answers, and what goes between them. */
export interface LinePlan {
  /** What the lines of a status below 400, below 500 and above begin with; `null` where none is written. */
  begins: Array<string | undefined | null>;
  /** Requests that would be answered with 400 and above are reported instead. */
  reportsErrors: boolean;
  /** What comes before the time. */
  beforeTime: string;
  /** `none`, `millis`, `seconds` or `iso`. */
  clock: string;
  /** Between the time and the request's id. */
  beforeId: string;
  /** Between the status and the response time. */
  beforeDuration: string;
  /** What comes last: of a status below 500, and of one above. */
  ends: Array<string>;
  /** The header that brings ids, in lower case. */
  idHeader?: string;
  /** What the ids begin with that the engine makes. */
  idPrefix: string;
  /** The share of lines below status 400 that are written, 0 to 1. */
  share: number;
  /** From so many waiting bytes on they are reported as due. */
  dueBytes: number;
}

/** How to listen. One of `host`, `path` and `fd`. */
export interface ListenOptions {
  /** An IP address. */
  host?: string;
  /** With `host`. */
  port?: number;
  /** Of a Unix socket. */
  path?: string;
  /** A bound socket. It stays the caller's: the engine uses a copy of the descriptor. */
  fd?: number;
  /** Connections that may wait. */
  backlog?: number;
  /** No IPv4 on an IPv6 socket. */
  ipv6Only?: boolean;
  /** SO_REUSEPORT. */
  reusePort?: boolean;
  /** Rights of a Unix socket. */
  readableAll?: boolean;
  /** Rights of a Unix socket. */
  writableAll?: boolean;
}

/** What a proxy has said of a connection. */
export interface ProxyHeader {
  /** 1 or 2. */
  version: number;
  /** It says whose connection it is. */
  hasEnds: boolean;
  /** Type, length in two bytes, value. */
  values: Buffer;
  /** The proxy's end of the connection. */
  peer?: SocketAddress;
}

/** Times in milliseconds, 0 is off. */
export interface ServerSettings {
  /** For a head to come in. */
  headersTimeout: number;
  /** For a request to come in. */
  requestTimeout: number;
  /** For the header of a proxy to come in. */
  proxyTimeout?: number;
  /** Between two requests, everything included. */
  keepAliveTimeout: number;
  /** What kept responses say about it in `Keep-Alive`; nothing when it is 0 or missing. */
  keepAliveShown?: number;
  /** Without activity. */
  socketTimeout: number;
  /** Bytes, as Node counts. */
  maxHeaderSize: number;
  /** Headers of a request, and trailers; 0 disables the limit. */
  maxHeaders: number;
  /** 0 disables the limit, -1 drops all. */
  maxConnections: number;
  /** TCP_NODELAY. */
  noDelay: boolean;
  /** SO_KEEPALIVE. */
  keepAlive: boolean;
  /** Its delay in milliseconds. */
  keepAliveInitialDelay: number;
  /** Answer clients that have ended their side. */
  allowHalfOpen: boolean;
  /** Report connections when they come. */
  announceConnections: boolean;
}

/** Where a socket is. */
export interface SocketAddress {
  /** An IP address, or the path of a Unix socket. */
  address: string;
  /** `IPv4`, `IPv6`, or empty for a Unix socket. */
  family: string;
  /** 0 for a Unix socket. */
  port: number;
}

/** What the two sides have to agree on. */
export interface Tables {
  /** By the index that crosses. */
  methods: Array<string>;
  /** By the number that crosses, minus 1. */
  names: Array<string>;
  /** Codes of client errors by number. */
  codes: Array<string>;
  /** Their reasons. */
  reasons: Array<string>;
  /** Headers that show who is asking, in lower case. */
  credentials: Array<string>;
  /** How the names of cookies begin that do not. */
  analyticsCookies: Array<string>;
}

export type { tables, Port };
