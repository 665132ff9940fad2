/** Where a socket is. A Unix socket has a path for an address, no family and port 0. */
export interface SocketAddress {
  address: string;
  family: string;
  port: number;
}

/** Something is wrong with what a client sent, or it took too long. */
export interface ClientError {
  /** As llhttp has it, or ERR_HTTP_REQUEST_TIMEOUT. */
  code: string;
  reason: string;
  bytesParsed: number;
  /** The bytes among which the error lies; undefined for a timeout and for an early end. */
  rawPacket: Buffer | undefined;
  /** The sequence number of the refused request, when earlier ones are not answered yet. */
  place: number | undefined;
}

/** Times in ms, 0 is off. */
export interface ServerSettings {
  headersTimeout: number;
  requestTimeout: number;
  /** Between two requests, everything included. */
  keepAliveTimeout: number;
  /** What kept answers tell the client about it; nothing when it is 0 or missing. */
  keepAliveShown?: number;
  /** Without activity. */
  socketTimeout: number;
  /** Bytes, as Node counts. */
  maxHeaderSize: number;
  /** Headers of a request, and trailers; 0 disables the limit. */
  maxHeaders: number;
  /** 0 disables the limit, -1 drops all. */
  maxConnections: number;
  noDelay: boolean;
  keepAlive: boolean;
  keepAliveInitialDelay: number;
  allowHalfOpen: boolean;
  announceConnections: boolean;
}

/** One of `host` (an IP address), `path` and `fd`. */
export interface ListenOptions {
  host?: string;
  port?: number;
  path?: string;
  /** A bound socket. It stays the caller's: the engine uses a copy of the descriptor. */
  fd?: number;
  backlog?: number;
  ipv6Only?: boolean;
  reusePort?: boolean;
  readableAll?: boolean;
  writableAll?: boolean;
}
