import { AsyncLocalStorage } from 'node:async_hooks';
import net from 'node:net';
import { ConnectionHandle } from './connection-handle.ts';
import type { EngineConnection, EngineResponse, ServingServer } from '../exchange.ts';
import { nodeError } from '../errors.ts';
import { nextTick } from '../node/clocks.ts';
import { defineHidden } from '../node/message-defaults.ts';
import { kNeedDrain } from '../node/node-internals.ts';
import { handOver } from '../response/hand-over.ts';
import { kBuffered, kDirect, kSequence } from '../node/message-state.ts';
import { failConnection } from './client-error.ts';
import { kProxyHeader, readProxyHeader } from './proxy-header.ts';

type WriteCallback = (error?: Error | null) => void;
type SocketMethod = (this: net.Socket, ...rest: unknown[]) => unknown;
type WithState = { _writableState: { length: number; needDrain: boolean } };
type Pieces = { chunk: string | Uint8Array; encoding: BufferEncoding }[];

/**
 * The socket of a connection served by the engine. It supports all of net.Socket's interface: addresses, timeouts, destroy,
 * events, raw writes. The engine consumes the incoming bytes, so it emits no "data".
 */
export class ConnectionSocket extends net.Socket {
  declare server: ServingServer;
  readonly #connection: EngineConnection;
  readonly #handle: ConnectionHandle;
  #writes: WriteCallback[] = [];
  #isEndAnnounced = false;
  #isFree = false;

  constructor(connection: EngineConnection) {
    const { highWaterMark } = connection.server;
    const handle = new ConnectionHandle(connection);
    super({
      handle,
      allowHalfOpen: true,
      manualStart: true,
      readableHighWaterMark: highWaterMark,
      writableHighWaterMark: highWaterMark,
    } as never);
    this.#connection = connection;
    this.#handle = handle;
    this.server = connection.server;
    this.on('timeout', onSocketTimeout);
    this.on('error', onSocketError);
    this.on('close', onSocketClose);
    this.on('drain', onSocketDrain);
    setTimeoutValue(this, connection.server.timeout);
    super.resume();
  }

  /** @internal */
  get connection(): EngineConnection {
    return this.#connection;
  }

  /** @internal */
  releaseHandle(): void {
    this.#handle.release();
  }

  /** @internal */
  get isReferenced(): boolean {
    return this.#handle.hasRef();
  }

  /** @internal Only the first error is emitted; its consequences are not. */
  ignoreErrors(): void {
    this.removeListener('error', onSocketError);
    if (this.listenerCount('error') === 0) this.on('error', ignore);
  }

  /** @internal The current response: Node's own methods compare themselves with it. */
  get _httpMessage(): EngineResponse | null {
    return this.#isFree ? null : this.#connection.first;
  }
  set _httpMessage(_value: unknown) {
    // The connection owns the queue of responses.
    this.#isFree = false;
  }

  /** @internal Node's own code is about to assign the next response and requires a socket without one. */
  expectMessage(): void {
    this.#isFree = true;
  }

  /** @internal The engine does Node's pausing for pipelined requests. */
  get _paused(): boolean {
    return false;
  }

  /** @internal Always null, as in Node after the socket was detached. */
  get parser(): null {
    return null;
  }

  /** @internal Bytes in the socket's own buffer. */
  get bufferedLength(): number {
    return (this as unknown as WithState)._writableState.length;
  }

  override setEncoding(): never {
    throw nodeError(
      'ERR_HTTP_SOCKET_ENCODING',
      'Changing the socket encoding is not allowed per RFC7230 Section 3.',
    );
  }

  override pause(): this {
    this.#connection.pauseEngineReads();
    return super.pause();
  }

  override resume(): this {
    const connection = this.#connection;
    connection.resumeEngineReads();
    // Node's server reads on when "resume" is emitted, in the next tick, although the socket was paused again meanwhile.
    if (this.readableFlowing !== true) nextTick(() => connection.resumeEngineReads());
    return super.resume();
  }

  override setTimeout(timeout: number, callback?: () => void): this {
    // Node's method validates, but sets a timer of its own; without a libuv handle, only the engine sees activity.
    super.setTimeout(timeout, callback);
    const asked = this.timeout ?? 0;
    super.setTimeout(0);
    setTimeoutValue(this, asked);
    this.#connection.native.setTimeout(Math.ceil(asked));
    return this;
  }

  override resetAndDestroy(): this {
    (this as unknown as { resetAndClosing: boolean }).resetAndClosing = true;
    return this.destroy();
  }

  /** @internal */
  _writeGeneric(
    isMany: boolean,
    data: Pieces | string | Uint8Array,
    encoding: BufferEncoding,
    callback: WriteCallback,
  ): void {
    const { native } = this.#connection;
    if (native.closed) {
      callback(Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' }));
      return;
    }
    if (isMany) {
      for (const piece of data as Pieces) this.#send(piece.chunk, piece.encoding);
    } else {
      this.#send(data as string | Uint8Array, encoding);
    }
    // As with a handle's own write, the callback has the context of the writer.
    if (native.pending > 0) this.#writes.push(AsyncLocalStorage.bind(callback));
    else callback();
  }

  /** @internal */
  override _final(callback: WriteCallback): void {
    const { native } = this.#connection;
    native.closeSoon();
    // The code after `end` may destroy the connection, so everything must be sent first.
    if (native.unsent > 0) this.#writes.push(callback);
    else callback();
  }

  /** @internal The kernel has taken the queued bytes. */
  onDrain(): void {
    const writes = this.#writes;
    this.#writes = [];
    for (const callback of writes) callback();
  }

  /** @internal The engine has closed the connection, on its own or at this socket's request. */
  onNativeClose(error: Error | undefined): void {
    if (this.destroyed) {
      this.#handle.closed();
      return;
    }
    // An orderly end emits the same events as in Node: "end", "finish", "close". A paused socket would never end.
    if (error === undefined && this.#writes.length === 0 && !this.isPaused()) {
      this.push(null);
      this.end();
    } else {
      this.destroy(error);
    }
  }

  /** @internal Has buffered bytes sent when the client ends. */
  announceEnd(): void {
    if (this.#isEndAnnounced) return;
    this.#isEndAnnounced = true;
    this.#connection.native.announceEnd();
  }

  /** @internal Writes the response's output of this tick first, which corks the socket as in Node. */
  flushResponse(): void {
    const { first, native } = this.#connection;
    if (first?.[kBuffered] && !native.closed) handOver(first);
  }

  /** @internal Emits "drain" when everything is sent, independent of the socket's own count. */
  expectDrain(): void {
    (this as unknown as WithState)._writableState.needDrain = true;
  }

  /** @internal Used by responses that Node's own methods write. */
  passDrain(): void {
    const { first, native } = this.#connection;
    if (first === null || first.finished || !first[kNeedDrain]) return;
    if (native.unsent > 0) {
      this.#writes.push(() => this.passDrain());
    } else if (first.writableLength > 0) {
      this.expectDrain();
    } else {
      first[kNeedDrain] = false;
      first.emit('drain');
    }
  }

  #send(chunk: string | Uint8Array, encoding: BufferEncoding): void {
    const { native, first } = this.#connection;
    if (chunk.length === 0) return;
    const data =
      typeof chunk === 'string' && !isPlain(encoding) ? Buffer.from(chunk, encoding) : chunk;
    // An ended response takes no more bytes: these follow it.
    const isEnded = first === null || (first[kDirect] && first.finished);
    if (isEnded) native.writeRaw(data);
    else native.write(first[kSequence], data, encoding, 0);
  }
}

for (const name of ['write', 'end', 'cork'] as const) {
  defineHidden(
    ConnectionSocket.prototype,
    name,
    function take(this: ConnectionSocket, ...rest: unknown[]): unknown {
      this.flushResponse();
      if (name === 'cork') this.announceEnd();
      return (net.Socket.prototype[name] as SocketMethod).apply(this, rest);
    },
  );
}
defineHidden(ConnectionSocket.prototype, kProxyHeader, function header(this: ConnectionSocket) {
  return readProxyHeader(this.connection.native);
});
/** The socket being announced by its server before any byte is read, and the function that gives it to Node. */
let announced: { socket: net.Socket; giveToNode: () => void } | null = null;

/**
 * Runs `emit`, which announces the socket. A listener that reads its bytes, like a server that routes sockets by their first
 * bytes, gets them: `giveToNode` is called first, and the socket becomes a plain one.
 */
export function announceSocket(socket: net.Socket, giveToNode: () => void, emit: () => void): void {
  announced = { socket, giveToNode };
  try {
    emit();
  } finally {
    announced = null;
  }
}

const listening = ['on', 'once', 'addListener', 'prependListener', 'prependOnceListener'] as const;
for (const name of [...listening, 'removeAllListeners', 'pipe'] as const) {
  const ofNode = net.Socket.prototype[name] as (this: net.Socket, ...rest: unknown[]) => unknown;
  defineHidden(
    ConnectionSocket.prototype,
    name,
    function listen(this: net.Socket, ...rest: unknown[]): unknown {
      const isAboutBytes = name === 'pipe' || rest[0] === 'data' || rest[0] === 'readable';
      if (announced?.socket !== this || !isAboutBytes) return ofNode.apply(this, rest);
      const { giveToNode } = announced;
      announced = null;
      giveToNode();
      return (this[name] as typeof ofNode)(...rest);
    },
  );
}

// Defined here because Node's types declare a plain property.
Object.defineProperty(ConnectionSocket.prototype, 'writableLength', {
  configurable: true,
  get(this: ConnectionSocket) {
    return this.bufferedLength + this.connection.unsent();
  },
});

/** Exists because Node's types declare the property read-only. */
function setTimeoutValue(socket: { timeout?: number }, timeout: number): void {
  socket.timeout = timeout;
}

/** Removes the socket's links to the engine. */
export function detachSocket(socket: ConnectionSocket): void {
  socket.releaseHandle();
  socket.removeListener('timeout', onSocketTimeout);
  socket.removeListener('error', onSocketError);
  socket.removeListener('close', onSocketClose);
  socket.removeListener('drain', onSocketDrain);
}

function isPlain(encoding: string | undefined | null): boolean {
  return !encoding || encoding === 'utf8' || encoding === 'utf-8' || encoding === 'latin1';
}

function onSocketError(this: ConnectionSocket, error: NodeJS.ErrnoException): void {
  failConnection(this, error);
}

function ignore(): void {}

function onSocketClose(this: ConnectionSocket): void {
  this.connection.closed();
}

function onSocketDrain(this: ConnectionSocket): void {
  this.passDrain();
}

function onSocketTimeout(this: ConnectionSocket): void {
  const { incoming, first } = this.connection;
  const isRequestHandled =
    incoming !== null && !incoming.complete && incoming.emit('timeout', this);
  const isResponseHandled = first !== null && first.emit('timeout', this);
  const isServerHandled = this.server.emit('timeout', this);
  if (!isRequestHandled && !isResponseHandled && !isServerHandled) this.destroy();
}
