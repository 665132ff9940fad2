/** The arrays that the engine and JavaScript share. See docs/design/http.md. */
export interface Memory {
  records: Uint32Array;
  input: Uint8Array;
  commands: Uint32Array;
  output: Uint8Array;
  pending: Uint32Array;
}

export interface Address {
  /** An IP address, or the path of a Unix socket. */
  address: string;
  /** `IPv4`, `IPv6`, or empty for a Unix socket. */
  family: string;
  port: number;
}

/** Times in milliseconds, 0 is off. */
export interface Settings {
  headersTimeout: number;
  requestTimeout: number;
  keepAliveTimeout: number;
  /** What kept answers say in `Keep-Alive`. */
  keepAliveShown?: number;
  socketTimeout: number;
  maxHeaderSize: number;
  /** Headers of a request, 0 is no limit. */
  maxHeaders: number;
  /** 0 is no limit, -1 drops all. */
  maxConnections: number;
  noDelay: boolean;
  keepAlive: boolean;
  keepAliveInitialDelay: number;
  allowHalfOpen: boolean;
  announceConnections: boolean;
}

/** One of `host` (an IP address), `path` and `fd`. */
export interface Listen {
  host?: string;
  port?: number;
  path?: string;
  /** A bound socket. It stays the caller's. */
  fd?: number;
  backlog?: number;
  ipv6Only?: boolean;
  reusePort?: boolean;
  readableAll?: boolean;
  writableAll?: boolean;
}

/** @throws What `require` says where the addon does not load. */
export declare function loadAddon(): Addon;

export interface Addon {
  readonly tables: typeof tables;
  readonly Port: typeof Port;
}

/** What the two sides have to agree on: lists by the number that crosses. */
declare function tables(): {
  methods: string[];
  names: string[];
  codes: string[];
  reasons: string[];
};

/** The engine of this environment. A connection is its slot and its generation. */
declare class Port {
  /** With `threaded` the engine has a thread of its own. */
  constructor(memory: Memory, threaded: boolean, onBatch: (from: number, words: number) => number);
  /** The server's number, or a negative error number. */
  listen(options: Listen, settings: Settings): number;
  configure(server: number, settings: Settings): void;
  address(server: number): Address | null;
  stop(server: number): void;
  closeIdle(server: number): void;
  closeAll(server: number): void;
  connectionCount(server: number): number;
  /** Lets the engine answer GET and HEAD of a URL by itself; 0 ms is for ever. */
  keep(server: number, url: string, head: Uint8Array, body: Uint8Array, timeMs: number): void;
  forget(server: number, url: string): void;
  setReferencedServers(count: number): void;
  adopt(server: number, fd: number): void;
  flush(): void;
  /** Something was written while nobody looked after it. */
  watch(): void;
  /** How many bytes the kernel has not taken, -1 when the connection is gone. */
  write(
    slot: number,
    generation: number,
    sequence: number,
    flags: number,
    data: Uint8Array,
  ): number;
  /** How many bytes the kernel has not taken. */
  close(slot: number, generation: number, reset: boolean): number;
  pause(slot: number, generation: number): void;
  resume(slot: number, generation: number): void;
  discardBody(slot: number, generation: number): void;
  /** The owner hears of the client's end before the connection is closed for it. */
  announceEnd(slot: number, generation: number): void;
  detach(slot: number, generation: number): { fd: number; head: Buffer } | null;
  setTimeout(slot: number, generation: number, timeoutMs: number): void;
  setNoDelay(slot: number, generation: number, on: boolean): void;
  setKeepAlive(slot: number, generation: number, on: boolean, seconds: number): void;
  remote(slot: number, generation: number): Address | null;
  local(slot: number, generation: number): Address | null;
  bytesRead(slot: number, generation: number): number;
  bytesWritten(slot: number, generation: number): number;
  /** Makes an uncaught exception of `error`, at once. */
  report(error: unknown): void;
}

export type { Port, tables };
