import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection as NativeConnection, HeaderBlock } from './native/index.ts';
import type {
  EmitterInternals,
  IncomingInternals,
  kOutSocket,
  OutgoingInternals,
} from './node/node-internals.ts';
import type {
  kConnection,
  kDirect,
  kHeld,
  kIsAscii,
  kIsNodes,
  kJoinedLength,
  kLocals,
  kOver,
  kSequence,
  kTickBytes,
  kWriteCallbacks,
} from './node/message-state.ts';

// A request, its response, their connection and its server know each other. What each needs from the others is here, below
// all of them, so that imports run down only.

/** The server's `IncomingMessage` and `ServerResponse` options: messages of these classes are Node's in all they do. */
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

/** An app of Express that is a server's one listener, and classes whose messages have its prototypes. */
export interface AppMessages {
  readonly app: RequestListener & { readonly request: object; readonly response: EngineResponse };
  readonly request: object;
  readonly response: EngineResponse;
  /** Express calls it before it replaces the prototypes. */
  readonly setHeader: unknown;
  /** These, and nothing else, differs from the classes of the engine. */
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

/** A server, for its connections and their messages. */
export interface ServingServer extends Server, EmitterInternals {
  readonly custom: CustomMessages;
  /** Headers that must not be sent twice, by the symbol Node looks for. */
  readonly uniqueHeaders: readonly [symbol, Set<string>] | undefined;
  readonly optimizesEmptyRequests: boolean;
  /** The proxies it is behind. */
  readonly proxies: object | undefined;
  /** It is stopping: every response ends its connection. */
  readonly isEnding: boolean;
  /** Its one listener, where that gives messages the prototypes of its own; null where it does not. */
  appMessages: AppMessages | null | undefined;
  /** The kind of its own handle: TCP, or a pipe. */
  readonly StreamHandle: StreamHandle;
  highWaterMark: number;
  joinDuplicateHeaders: boolean;
  requireHostHeader: boolean;
  rejectNonStandardBodyWrites: boolean;
  shouldUpgradeCallback(request: EngineRequest): boolean;
  /** Node's own server reads this connection from here on. */
  serveByNode(socket: Socket): void;
  /** A connection has become Node's. */
  countDetached(): void;
  /** From here on Node's own server takes connections: somebody has replaced what it calls on each. */
  leaveToNode(replaced: string): void;
  /** @internal */
  _noticeListener(event: string | symbol): void;
  _emitCloseIfDrained(): void;
  /** The engine has left: no connection is left. */
  onStopped(): void;
}

/** A file on its way into a response. */
export interface FileSource {
  /** The engine has sent a part of it, or goes no further. */
  onMoved(): void;
  /** The connection is gone. */
  onLost(): void;
  /** The connection is gone because the file could not be read: its stream hears of that before the rest, which is `next`, is done. */
  onUnreadable(next: () => void): void;
}

/** A connection, for its messages and its socket. */
export interface EngineConnection {
  readonly native: NativeConnection;
  readonly server: ServingServer;
  /** The response whose turn it is. */
  readonly first: EngineResponse | null;
  /** The request that came last: bytes of a body belong to it. */
  readonly incoming: EngineRequest | null;
  /** The file that the engine sends a part of. */
  file: FileSource | null;
  /** What stands for the connection where Node has a socket: made when first asked for. */
  socket(): Socket;
  /** Bytes lie in the socket's own buffer, or would: nothing may overtake them. */
  holdsBytes(): boolean;
  /** Corks the socket until what was to happen behind this tick happens. */
  corkUntilTick(needsDrain: boolean): void;
  /** Emits "drain" on the first response once all that was written is sent. */
  passDrain(): void;
  /** Uncorks the socket of what was corked behind the end of this response. */
  uncorkEnded(response: EngineResponse): void;
  /** Nobody has ended or destroyed the socket. */
  isWritable(): boolean;
  /** Bytes that were written for it and that the kernel has not taken. */
  unsent(): number;
  /** This many more, or fewer, bytes were written for responses before their turn. */
  countWaiting(length: number): void;
  /** All bytes of the response are with the engine. */
  ended(response: EngineResponse): void;
  /** Whether the response to this request is not finished. */
  owes(request: EngineRequest): boolean;
  /** Calls back in the next tick, or as soon as the kernel has taken what waits. */
  afterTick(response: EngineResponse): void;
  /** The response is about to be the last. */
  expectLast(response: EngineResponse): void;
  /** The response is finished: so is what came for its request. */
  release(response: EngineResponse): void;
  /** The first response is complete: the next one has its turn. */
  finished(response: EngineResponse): void;
  readMore(): void;
  readLess(): void;
  /** The reader of a body wants more. */
  resumeReading(): void;
  /** The reader of a body has enough. */
  pauseReading(): void;
  /** Gives the descriptor away, and what was under way with it. Undefined when the connection is gone. */
  leave(): { fd: number } | undefined;
  /** Reports the end to everything that was under way. */
  closed(): void;
  asyncId(): number;
}

/** A request, for its response and its connection. */
export interface EngineRequest
  extends Omit<IncomingMessage, '_read' | 'method' | 'url'>, IncomingInternals, EmitterInternals {
  method: string;
  url: string;
  /** Null until it is known. */
  upgrade: boolean | null;
  [kOver]: boolean;
  joinDuplicateHeaders: boolean;
}

export type HeldWrites = (string | Uint8Array | number | undefined)[];

/** A response, for its request and its connection. */
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
  [kHeld]: HeldWrites | null;
  [kWriteCallbacks]: ((error?: Error | null) => void)[] | null;
  [kOutSocket]: Socket | null;
}
