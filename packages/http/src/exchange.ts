import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection as NativeConnection, HeaderBlock } from './native/index.ts';
import type {
  EmitterInternals,
  IncomingInternals,
  kOutSocket,
  OutgoingInternals,
} from './node/node-internals.ts';
import type { ExchangeObserver } from './exchange-observer.ts';
import type {
  kConnection,
  kContext,
  kDirect,
  kBuffered,
  kIsAscii,
  kIsNodes,
  kJoinedLength,
  kLocals,
  kObserver,
  kReleased,
  kSequence,
  kTickBytes,
  kWriteCallbacks,
} from './node/message-state.ts';

// A request, its response, their connection and its server refer to each other. The parts that each needs of the others are
// declared here, below all of them, so that imports only point down.

/** The server's `IncomingMessage` and `ServerResponse` options: messages of these classes use Node's own methods. */
export interface CustomMessages {
  readonly request: (new (socket: Socket) => IncomingMessage) | undefined;
  readonly response:
    | (new (request: IncomingMessage, options: object) => ServerResponse)
    | undefined;
}

/** libuv's handle class for connections; a new one has no descriptor. */
export interface StreamHandle {
  new (type: number): object;
  readonly prototype: {
    open(this: object, fd: number): number;
    close(this: object): void;
    ref(this: object): void;
    unref(this: object): void;
  };
}

/** An Express app that is the server's only listener, and message classes with its prototypes. */
export interface AppMessages {
  readonly app: RequestListener & { readonly request: object; readonly response: EngineResponse };
  readonly request: object;
  readonly response: EngineResponse;
  /** Express calls it before it replaces the prototypes. */
  readonly setHeader: unknown;
  /** The only difference from the engine's own classes. */
  readonly Request: new (
    connection: EngineConnection,
    method: string,
    url: string,
    minorVersion: 0 | 1,
    block: HeaderBlock,
  ) => EngineRequest;
  readonly Response: new (
    request: EngineRequest,
    connection: EngineConnection,
    sequence: number,
    keepAlive: boolean,
  ) => EngineResponse;
}

/** A server, as seen by its connections and their messages. */
export interface ServingServer extends Server, EmitterInternals {
  readonly custom: CustomMessages;
  /** Headers that must not be sent twice, with Node's internal symbol for them. */
  readonly uniqueHeaders: readonly [symbol, Set<string>] | undefined;
  readonly optimizesEmptyRequests: boolean;
  /** The trusted proxies in front of it. */
  readonly proxies: object | undefined;
  /** The server is stopping: every response ends its connection. */
  readonly isEnding: boolean;
  /** The only listener, if it sets its own prototypes on messages; null if it does not. */
  appMessages: AppMessages | null | undefined;
  /** The kind of the server's own handle: TCP, or a pipe. */
  readonly StreamHandle: StreamHandle;
  highWaterMark: number;
  joinDuplicateHeaders: boolean;
  requireHostHeader: boolean;
  rejectNonStandardBodyWrites: boolean;
  shouldUpgradeCallback(request: EngineRequest): boolean;
  /** Has Node's own server read this connection. */
  serveByNode(socket: Socket): void;
  /** Counts a connection that was moved to Node. */
  countDetached(): void;
  /** Has Node's own server take new connections: user code has replaced a method that it calls for each. */
  leaveToNode(replaced: string): void;
  /** @internal */
  _noticeListener(event: string | symbol): void;
  _emitCloseIfDrained(): void;
  /** The engine has stopped; the last connection is closed. */
  onStopped(): void;
}

/** A file being sent as part of a response. */
export interface FileSource {
  /** The engine has sent a part of it, or has stopped. */
  onMoved(): void;
  /** The connection is gone. */
  onLost(): void;
  /** The connection closed because the file could not be read: its stream gets the error before `next` runs the rest. */
  onUnreadable(next: () => void): void;
}

/** A connection, as seen by its messages and its socket. */
export interface EngineConnection {
  readonly native: NativeConnection;
  readonly server: ServingServer;
  /** The response whose turn it is. */
  readonly first: EngineResponse | null;
  /** The latest request: body bytes belong to it. */
  readonly incoming: EngineRequest | null;
  /** The file of which the engine is sending a part. */
  file: FileSource | null;
  /** Returns the connection's socket; made on the first call. */
  socket(): Socket;
  /** True if bytes are, or would be, in the socket's own buffer: none may overtake them. */
  holdsBytes(): boolean;
  /** Corks the socket until the response's own `afterTick` runs. */
  corkUntilTick(response: EngineResponse): void;
  /** Emits "drain" on the first response once all written bytes are sent. */
  passDrain(): void;
  /** Uncorks the bytes that were corked after the end of this response. */
  uncorkEnded(response: EngineResponse): void;
  /** True unless the socket was ended or destroyed. */
  isWritable(): boolean;
  /** Written bytes that the kernel has not taken. */
  unsent(): number;
  /** Adds to the count of bytes written for responses before their turn; `length` may be negative. */
  countWaiting(length: number): void;
  /** All bytes of the response are with the engine. */
  ended(response: EngineResponse): void;
  /** True if the response to this request is not finished. */
  hasPendingResponse(request: EngineRequest): boolean;
  /** Calls back in the next tick, or as soon as the kernel has taken the queued bytes. */
  afterTick(response: EngineResponse): void;
  /** The response is about to end the connection. */
  expectLast(response: EngineResponse): void;
  /** The response is finished: releases its request. */
  release(response: EngineResponse): void;
  /** The first response is complete: the next one becomes first. */
  finished(response: EngineResponse): void;
  resumeEngineReads(): void;
  pauseEngineReads(): void;
  /** Called when the reader of a body wants more. */
  resumeReading(): void;
  /** Called when the reader of a body has enough. */
  pauseReading(): void;
  /** Gives away the descriptor together with the messages in progress. Undefined if the connection is gone. */
  leave(): { fd: number } | undefined;
  /** Notifies all messages in progress of the end. */
  closed(): void;
  asyncId(): number;
}

/** A request, as seen by its response and its connection. */
export interface EngineRequest
  extends Omit<IncomingMessage, '_read' | 'method' | 'url'>, IncomingInternals, EmitterInternals {
  method: string;
  url: string;
  /** Null until it is known. */
  upgrade: boolean | null;
  [kReleased]: boolean;
  [kContext]?: object | undefined;
  [kObserver]?: ExchangeObserver;
  joinDuplicateHeaders: boolean;
}

export type BufferedWrites = (string | Uint8Array | number | undefined)[];

/** A response, as seen by its request and its connection. */
export interface EngineResponse
  extends
    Omit<ServerResponse, 'req' | 'end' | 'destroy' | 'on'>,
    OutgoingInternals,
    EmitterInternals {
  req: EngineRequest;
  end(chunk?: unknown, encoding?: unknown, callback?: unknown): this;
  destroy(error?: Error): this;
  on(event: string | symbol, listener: (...rest: never[]) => unknown): this;
  [kConnection]: EngineConnection;
  [kSequence]: number;
  [kDirect]: boolean;
  [kIsNodes]: boolean;
  [kIsAscii]: boolean;
  [kLocals]: unknown;
  [kTickBytes]: number;
  [kJoinedLength]: number;
  [kBuffered]: BufferedWrites | null;
  [kWriteCallbacks]: ((error?: Error | null) => void)[] | null;
  [kOutSocket]: Socket | null;
}
