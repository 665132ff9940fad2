// Generated from crates/http_node by scripts/build-native.mjs: change it there.

/** @throws Where no addon loads; the message is one clause that says why. */
export declare function loadAddon(): Addon;

export interface Addon {
  readonly interfaceHash: typeof interfaceHash;
  readonly tables: typeof tables;
  readonly Port: typeof Port;
}

/** Identifies what crosses between this addon and JavaScript: `native.cjs` uses no addon with another hash. */
declare function interfaceHash(): string;

/** The tables of the engine. */
declare function tables(): Tables;

/** An HTTP/1.1 engine in this environment's loop. */
declare class Port {
  /**
   * Sets the format of the log lines of a server's own responses. Without a plan none are written. Returns the max target
   * length, in bytes, for which JavaScript may request a line.
   */
  logLines(server: number, plan?: LinePlan | undefined | null): number;
  /** Moves the oldest lines, only whole ones, into `into` at `offset`. Returns the number of bytes. */
  takeLines(server: number, into: Buffer, offset: number): number;
  /**
   * Writes the lines of responses made by JavaScript. `records` has an `OWNERS_LINE` for each, `texts` their targets and ids,
   * already checked by JavaScript. Returns flags of `OWNERS_NEWS`.
   */
  writeOwnersLines(server: number, records: Uint32Array, count: number, texts: Buffer): number;
  /** Reports every later request that is due a line, instead of responding to it in the engine. */
  holdAnswers(server: number): void;
  /**
   * Opens the environment's engine. `memory` has the arrays of `docs/design/http.md`; `onBatch` receives the start and end of
   * the words of `records` to read, and returns the position it has read to. With `threaded` the engine has a thread of its
   * own.
   */
  constructor(memory: { records: Uint32Array; input: Uint8Array; commands: Uint32Array; output: Uint8Array; pending: Uint32Array }, threaded: boolean, onBatch: (from: number, words: number) => number);
  /** Starts a server and returns its number, or a negative error number. With `proxies` it serves only connections from them. */
  listen(options: ListenOptions, settings: ServerSettings, proxies?: Array<string> | undefined | null): number;
  /** Creates a server whose connections are passed to `adopt`. Returns its number, or a negative error number. */
  serve(settings: ServerSettings, proxies?: Array<string> | undefined | null): number;
  /** Changes a server's settings. */
  configure(server: number, settings: ServerSettings): void;
  /** The address a server listens on. */
  address(server: number): SocketAddress | null;
  /** Stops listening. */
  stop(server: number): void;
  /** Closes connections between two requests, and with `with_unused` also those that have sent nothing. */
  closeIdle(server: number, withUnused: boolean): void;
  /** Closes all connections. */
  closeAll(server: number): void;
  /** The number of connections of a server. */
  connectionCount(server: number): number;
  /** Sets the number of servers that keep the loop alive. */
  setReferencedServers(count: number): void;
  /**
   * Serves a connection accepted elsewhere, on a copy of its descriptor, which remains the caller's. Returns false if no
   * descriptor is left, or if it is not one of a connection.
   */
  adopt(server: number, fd: number): boolean;
  /** Sends the contents of the shared output memory. */
  flush(): void;
  /**
   * Writes the facts of exchanges to a telemetry ring from now on; `null` ends it. A ring of another layout, which another
   * release has made, is not written.
   */
  observe(ring: Uint32Array | null): void;
  /** Starts or wakes the sender thread after a write outside a batch. */
  watch(): void;
  /** Raises `error` as an uncaught exception, at once. */
  report(error: unknown): void;
  /** Writes at once. Returns the number of bytes the kernel has not taken, -1 if the connection is closed. */
  write(slot: number, generation: number, sequence: number, flags: number, facts: number, data: Uint8Array): number;
  /** Sends a range of a file. Returns the number of bytes sent if it finishes at once, nothing while it is under way. */
  sendFile(slot: number, generation: number, sequence: number, range: FileRange): number | null;
  /** Ends the file range under way, if any. Returns the number of bytes sent of the last one. */
  endFile(slot: number, generation: number): number;
  /** Closes at once, and returns the number of bytes the kernel has not taken. */
  close(slot: number, generation: number, reset: boolean): number;
  /** Stops reporting the body. */
  pause(slot: number, generation: number): void;
  /** Resumes reporting the body. */
  resume(slot: number, generation: number): void;
  /** Sets whether a connection keeps the loop alive while it is read. */
  setReferenced(slot: number, generation: number, isReferenced: boolean): void;
  /** Discards the rest of the body. */
  discardBody(slot: number, generation: number): void;
  /** Reports the client's end to the owner before the connection is closed for it. */
  announceEnd(slot: number, generation: number): void;
  /** Hands over a connection. */
  detach(slot: number, generation: number): Detached | null;
  /** Sets the inactivity timeout of a connection. */
  setTimeout(slot: number, generation: number, timeoutMs: number): void;
  /** Sets TCP_NODELAY of a connection. */
  setNoDelay(slot: number, generation: number, on: boolean): void;
  /** Sets SO_KEEPALIVE of a connection. */
  setKeepAlive(slot: number, generation: number, on: boolean, seconds: number): void;
  /** The far end. */
  remote(slot: number, generation: number): SocketAddress | null;
  /** The near end. */
  local(slot: number, generation: number): SocketAddress | null;
  /** Returns the PROXY protocol header of a connection. */
  proxyHeader(slot: number, generation: number): ProxyHeader | null;
  /** Bytes read from a connection. */
  bytesRead(slot: number, generation: number): number;
  /** Bytes written to a connection. */
  bytesWritten(slot: number, generation: number): number;
  /**
   * Makes a server respond by itself, from a store of the given size in bytes; with `isShared` from the store that the process
   * has for its address.
   */
  openAnswers(server: number, maxBytes: number, isShared: boolean): void;
  /** Leaves all responses to JavaScript again. */
  closeAnswers(server: number): void;
  /** The time of the last drop: to be taken before the data of a response is read. */
  ticket(): number;
  /** Keeps a response, and returns the outcome. */
  keep(server: number, fill: Fill): number;
  /** Counts a response that was not worth the call into the engine. */
  countOutcome(server: number, outcome: number): void;
  /** Drops the responses to a target. */
  dropTarget(server: number, target: string): void;
  /** Drops the responses with one of the tags. */
  dropTags(server: number, tags: Array<string>): void;
  /** Drops all responses. */
  clearAnswers(server: number): void;
  /** Counts responses and requests by their outcome; empty if the server does not respond by itself. */
  answerCounts(server: number): Array<number>;
}

/** A connection that is handed over. */
export interface Detached {
  /** Its descriptor. */
  fd: number;
  /** Bytes read after the head. */
  head: Buffer;
}

/** A range of a file. */
export interface FileRange {
  /** The descriptor. */
  fd: number;
  /** Its first byte, or -1 for the descriptor's own position. */
  at: number;
  /** Max bytes. */
  length: number;
  /** Bytes per chunk; 0 without chunks. */
  chunk: number;
  /** The device of the file, as `fs.fstatSync` gives it. */
  device: number;
  /** The inode on that device. */
  inode: number;
}

/** A response to be kept. Texts consist of characters up to U+00FF, as they are sent. */
export interface Fill {
  /** The exact request target. */
  target: string;
  /** Identity that the response belongs to: one of `IDENTITY`. */
  identity: number;
  /** Other parts of the request it depends on: the header or cookie of its identity, and headers in lower case. */
  names: Array<string>;
  /** Their values in the original request. */
  values: Array<string | undefined | null>;
  /** The codings between which accept-encoding chooses, if it is one of the names: a list of `ENCODING`. */
  encodings: number;
  /** The status code. */
  status: number;
  /** The status line and the headers before `Date`, each terminated by CRLF. */
  head: string;
  /** Headers after `Connection`. */
  tail: string;
  /** The status line and headers of its 304; empty without an ETag. */
  notModified: string;
  /** The ETag, or empty. */
  etag: string;
  /** True if it has a `Last-Modified` header. */
  hasLastModified: boolean;
  /** The body. */
  body: Uint8Array;
  /** Freshness lifetime in milliseconds. */
  freshMs: number;
  /** Time in milliseconds for which it may be sent after that. */
  staleMs: number;
  /** Tags of the data it is made from. */
  tags: Array<string>;
  /** Ticket of the time its generation began; defaults to now. */
  ticket?: number;
  /** If true, it is kept only if the last offered response was the same. */
  isOffer: boolean;
  /** Number of the log line written for it; 0 for none. */
  line: number;
  /** Number of the route of its requests, for an observer; 0 for none. */
  route: number;
}

/** The parts of the log lines of a server's own responses. */
export interface LinePlan {
  /** Line starts for a status below 400, below 500 and above; `null` where no line is written. */
  begins: Array<string | undefined | null>;
  /** Report requests whose response would have status 400 or above, instead of responding. */
  reportsErrors: boolean;
  /** Text before the time. */
  beforeTime: string;
  /** `none`, `millis`, `seconds` or `iso`. */
  clock: string;
  /** Text between the time and the request's id. */
  beforeId: string;
  /** Text between the status and the response time. */
  beforeDuration: string;
  /** Line ends for a status below 500, and for one above. */
  ends: Array<string>;
  /** The request header that carries ids, in lower case. */
  idHeader?: string;
  /** Prefix of the ids that the engine generates. */
  idPrefix: string;
  /** The share of lines below status 400 that are written, 0 to 1. */
  share: number;
  /** Number of waiting bytes from which they are reported as due. */
  dueBytes: number;
}

/** The socket to listen on. One of `host`, `path` and `fd`. */
export interface ListenOptions {
  /** An IP address. */
  host?: string;
  /** Port, with `host`. */
  port?: number;
  /** Path of a Unix socket. */
  path?: string;
  /** A bound socket. It remains the caller's: the engine uses a copy of the descriptor. */
  fd?: number;
  /** Max connections waiting to be accepted. */
  backlog?: number;
  /** Refuse IPv4 on an IPv6 socket. */
  ipv6Only?: boolean;
  /** SO_REUSEPORT. */
  reusePort?: boolean;
  /** Makes a Unix socket readable for all users. */
  readableAll?: boolean;
  /** Makes a Unix socket writable for all users. */
  writableAll?: boolean;
}

/** A proxy's information about a connection. */
export interface ProxyHeader {
  /** 1 or 2. */
  version: number;
  /** True if it names the ends of the connection. */
  hasEnds: boolean;
  /** TLVs: type, length in two bytes, value. */
  values: Buffer;
  /** The proxy's end of the connection. */
  peer?: SocketAddress;
}

/** Settings of a server. Times in milliseconds, 0 is off. */
export interface ServerSettings {
  /** Time for a head to arrive. */
  headersTimeout: number;
  /** Time for a request to arrive. */
  requestTimeout: number;
  /** Time for a proxy's header to arrive. */
  proxyTimeout?: number;
  /** Time between two requests, everything included. */
  keepAliveTimeout: number;
  /** Value shown in `Keep-Alive` by kept responses; the header is omitted if it is 0 or missing. */
  keepAliveShown?: number;
  /** Time without activity. */
  socketTimeout: number;
  /** Max bytes of a head, counted as Node does. */
  maxHeaderSize: number;
  /** Max headers of a request, and max trailers; 0 disables the limit. */
  maxHeaders: number;
  /** Max connections; 0 disables the limit, -1 drops all. */
  maxConnections: number;
  /** TCP_NODELAY. */
  noDelay: boolean;
  /** SO_KEEPALIVE. */
  keepAlive: boolean;
  /** Delay of SO_KEEPALIVE in milliseconds. */
  keepAliveInitialDelay: number;
  /** Respond to clients that have ended their side. */
  allowHalfOpen: boolean;
  /** Report connections when they arrive. */
  announceConnections: boolean;
}

/** The address of a socket. */
export interface SocketAddress {
  /** An IP address, or the path of a Unix socket. */
  address: string;
  /** `IPv4`, `IPv6`, or empty for a Unix socket. */
  family: string;
  /** 0 for a Unix socket. */
  port: number;
}

/** Tables that the two sides must agree on. */
export interface Tables {
  /** Methods, by the index that crosses. */
  methods: Array<string>;
  /** Header names, by the number that crosses, minus 1. */
  names: Array<string>;
  /** Codes of client errors by number. */
  codes: Array<string>;
  /** Their reasons. */
  reasons: Array<string>;
  /** Headers that identify the client, in lower case. */
  credentials: Array<string>;
  /** Prefixes of cookie names that do not identify the client. */
  analyticsCookies: Array<string>;
}

export type { interfaceHash, tables, Port };
