import type { Connection } from './connection.ts';
import type { HeaderBlock } from './header-block.ts';

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
}

/** What a server hears from the engine. Each is called in a try of its own; what it throws is an uncaught exception. */
export interface ServerEvents {
  /** A connection came. Only with `announceConnections`. */
  onOpen(connection: Connection): void;
  /** `body` is a copy: all of it with BODY_COMPLETE, else the first bytes of it or undefined. */
  onRequest(
    connection: Connection,
    sequence: number,
    method: string,
    url: string,
    flags: number,
    headers: HeaderBlock,
    body: Buffer | undefined,
  ): void;
  onBody(connection: Connection, sequence: number, chunk: Buffer): void;
  /** `trailers` is flat: name, value, name, value. */
  onBodyEnd(connection: Connection, sequence: number, trailers: string[]): void;
  /** Everything written is with the kernel, after `pending` was above 0. */
  onDrain(connection: Connection): void;
  /** Nothing more is told of what the connection brings, but its end. */
  onClientError(connection: Connection, error: ClientError): void;
  /** Not closed yet. `isInactive`: by the connection's own timeout, not between two requests. */
  onTimeout(connection: Connection, isInactive: boolean): void;
  /** The client ended its side while answers are due. Only with `allowHalfOpen`; else the connection closes. */
  onEnd?(connection: Connection): void;
  /** The last event of a connection. `errno` is 0 or what recv or send reported. */
  onClose(connection: Connection, errno: number): void;
  /** `maxConnections` was reached: a connection was dropped. */
  onDrop(remote: SocketAddress, local: SocketAddress): void;
  /** After `stop()`: the last connection is gone. */
  onStopped(): void;
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
  /** 0 is no limit, -1 drops all. */
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
