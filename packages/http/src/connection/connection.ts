import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { constants } from 'node:os';
import { ConnectionSocket } from './connection-socket.ts';
import { connectionReset, streamDestroyed, systemError } from '../errors.ts';
import type {
  EngineConnection,
  EngineRequest,
  EngineResponse,
  FileSource,
  ServingServer,
} from '../exchange.ts';
import { proceedAfterTick, proceedInContext, finish } from './finish.ts';
import { hasFinishSubscribers, publishFinish } from './channels.ts';
import type { Connection as NativeConnection } from '../native/index.ts';
import {
  kCorked,
  kNeedDrain,
  joinsChunks,
  type EmitterInternals,
  hasListener,
} from '../node/node-internals.ts';
import { isEmitReplaced, isOnReplaced, mayHaveListeners } from '../node/replaced-methods.ts';
import { mendPrototypes } from './replaced-prototypes.ts';
import { releaseRequest } from '../request/request-body.ts';
import { runInContext } from '../request/request-context.ts';
import { isReplacedInTick } from '../response/response.ts';
import { emitClose, finishNode, handOver } from '../response/hand-over.ts';
import { nodeResponse } from '../response/node-methods.ts';
import { bufferedLength, flushBuffered, roughLength } from '../response/response-output.ts';
import {
  callEndCallbacks,
  callWriteCallbacks,
  dropCallbacks,
  lostError,
} from '../response/write-callbacks.ts';
import { kBuffered, kDirect, kIsNodes } from '../node/message-state.ts';

type InContext = ReturnType<typeof AsyncLocalStorage.snapshot>;

/** One connection of the engine: its pending responses in order, and a socket that is made on first use. */
export class HttpConnection extends AsyncResource implements EngineConnection {
  readonly native: NativeConnection;
  readonly server: ServingServer;
  /** The response whose turn it is. */
  first: EngineResponse | null = null;
  /** The latest request: body bytes belong to it. */
  incoming: EngineRequest | null = null;
  /** The file of which the engine is sending a part. */
  file: FileSource | null = null;
  /** Number of requests so far, for `maxRequestsPerSocket`. */
  requestCount = 0;
  /** "close" was emitted, or is due without a socket to emit it. */
  isClosed = false;

  #socket: ConnectionSocket | null = null;
  /** The responses after the first. */
  #later: EngineResponse[] = [];
  /** Responses waiting until the kernel has taken everything, with their own context if they have one. */
  #unsent: Map<EngineResponse, InContext | undefined> | null = null;
  #isPaused = false;
  /** Bytes written for responses before their turn. */
  #waiting = 0;
  /** Reading is paused because `#waiting` is too large. */
  #isFull = false;
  /** The responses for which the socket is corked until the end of their tick. */
  #corkedFor: Set<EngineResponse> | null = null;
  /** The last response is complete. */
  #isEnding = false;

  constructor(native: NativeConnection, server: ServingServer) {
    super('HTTPINCOMINGMESSAGE', { requireManualDestroy: true });
    this.native = native;
    this.server = server;
  }

  /** Returns the connection's socket; made on the first call. */
  socket(): ConnectionSocket {
    if (this.#socket === null) {
      this.#socket = new ConnectionSocket(this);
      if (this.isClosed) this.#socket.destroy();
    }
    return this.#socket;
  }

  get existingSocket(): ConnectionSocket | null {
    return this.#socket;
  }

  /** True if bytes are, or would be, in the socket's own buffer: none may overtake them. */
  holdsBytes(): boolean {
    const socket = this.#socket;
    return socket !== null && (socket.bufferedLength > 0 || socket.writableCorked > 0);
  }

  /** Moves the buffered bytes of a response to the socket, which sends them at the end of the tick. */
  corkUntilTick(response: EngineResponse): void {
    const socket = this.socket();
    (this.#corkedFor ??= new Set()).add(response);
    socket.cork();
    if (response[kNeedDrain]) socket.expectDrain();
  }

  passDrain(): void {
    this.socket().passDrain();
  }

  /** True unless the socket was ended or destroyed. */
  isWritable(): boolean {
    return this.#socket === null || this.#socket.writable;
  }

  unsent(): number {
    const buffered = this.first === null ? 0 : bufferedLength(this.first);
    return buffered + this.native.unsent;
  }

  /** Queues a response. As in Node, reading stops after it if too many bytes wait for their turn. */
  enqueue(response: EngineResponse): void {
    if (this.first === null && !this.#isEnding) {
      this.first = response;
      return;
    }
    this.#later.push(response);
    if (this.#waiting < this.server.highWaterMark || this.#isFull) return;
    this.#isFull = true;
    this.native.pause();
  }

  /** Like Node's server after announcing the request, gives the socket to the response if it is first. */
  begin(response: EngineResponse): void {
    if (response[kIsNodes]) {
      if (this.first === response) this.#assign(response);
      response.on('finish', () => finishNode(response));
    } else if (isEmitReplaced(response) && this.first === response) {
      response.emit('socket', this.socket());
    }
  }

  /** Node's own method emits "socket", and sends the bytes that the response holds. */
  #assign(response: EngineResponse): void {
    const socket = this.socket();
    socket.expectMessage();
    response.assignSocket(socket);
  }

  countWaiting(length: number): void {
    this.#waiting += length;
  }

  hasPendingResponse(request: EngineRequest): boolean {
    return this.first?.req === request || this.#later.some(({ req }) => req === request);
  }

  /** All bytes of the response are with the engine. "finish" follows once the kernel has them, in the response's turn. */
  ended(response: EngineResponse): void {
    if (this.first === response) this.afterTick(response);
  }

  /** Calls back in the next tick, or as soon as the kernel has taken the queued bytes. */
  afterTick(response: EngineResponse): void {
    proceedAfterTick(response);
  }

  /** The engine closes the connection before listeners of "finish" run. In Node its addresses are still available there. */
  expectLast(response: EngineResponse): void {
    if (mayHaveListeners(response) || hasFinishSubscribers()) this.native.keepAddresses();
  }

  /** Continues a response that waits for the kernel. `isOwn`: the current context is the response's own. */
  proceed(response: EngineResponse, isOwn: boolean): void {
    if (isReplacedInTick(response) && this.first === response) handOver(response);
    // The tick of a later response may run first.
    if (this.#corkedFor?.delete(response)) {
      // A Node that joins chunks uncorks by the response, unless the app has done so.
      if (!joinsChunks) this.#socket?.uncork();
      else if (response[kCorked] > 0) nodeResponse.uncork.call(response);
    }
    // Output of a response before its turn is buffered and counted.
    if (this.isClosed || this.first !== response) return;
    // Bytes written in this tick are lost with the connection, which is reported on close.
    if (response[kBuffered] && (this.native.destroyed || !this.isWritable())) return;
    flushBuffered(response);
    if (this.native.pending > 0) {
      const inContext = isOwn ? AsyncLocalStorage.snapshot() : this.#unsent?.get(response);
      (this.#unsent ??= new Map()).set(response, inContext);
      return;
    }
    callWriteCallbacks(response, null);
    if (response.finished && response[kDirect]) finish(response);
  }

  /** Sends the bytes corked after the end of the response. Node's `end` uncorks the socket a tick later. */
  uncorkEnded(response: EngineResponse): void {
    for (let corks = response[kCorked]; corks > 0; corks--) this.#socket?.uncork();
  }

  release(response: EngineResponse): void {
    const { req: request } = response;
    publishFinish(response, this);
    releaseRequest(request, this);
    if (this.incoming !== request) return;
    // Like Node's server, which does it for its parser.
    if (isOnSeen(request, this.server) && !request.readableEnded) request.on('end', nothing);
    if (request.complete) this.incoming = null;
  }

  /** The first response is complete and its request is released: the next response becomes first. */
  finished(response: EngineResponse): void {
    if (this.first !== response) return;
    // Like Node's server: the socket ends at "finish".
    if (response._last && this.#socket !== null) this.#socket.end();
    if (response[kDirect]) this.uncorkEnded(response);
    if (response._last) {
      // This response closes the connection: none follows.
      this.first = null;
      this.#isEnding = true;
      return;
    }
    const next = this.#later.shift() ?? null;
    this.first = next;
    if (next !== null) runInContext(next.req, HttpConnection.#startTurnOf, this, next);
  }

  static #startTurnOf(connection: HttpConnection, response: EngineResponse): void {
    connection.#startTurn(response);
  }

  #startTurn(response: EngineResponse): void {
    if (response[kDirect]) this.#waiting -= roughLength(response[kBuffered]);
    if (!response[kDirect]) {
      this.#assign(response);
      if (this.isWritable()) this.#resumeUnlessFull();
      return;
    }
    if (isEmitReplaced(response) || hasListener(response, 'socket')) {
      response.emit('socket', this.socket());
    }
    // As in Node, an ending socket accepts no more: bytes written for the response are lost with the connection.
    if (!this.isWritable()) {
      dropCallbacks(response);
      return;
    }
    flushBuffered(response);
    // In Node, a response ended early emits "prefinish" in its turn.
    if (response.finished && mayHaveListeners(response)) response.emit('prefinish');
    this.afterTick(response);
    this.#resumeUnlessFull();
  }

  /** Resumes reading once `#waiting` has dropped. */
  #resumeUnlessFull(): void {
    if (!this.#isFull || this.#waiting >= this.server.highWaterMark) return;
    this.#isFull = false;
    if (!this.#isPaused) this.native.resume();
  }

  /** Goes through the socket if it exists: as in Node, its listeners get "pause" and "resume". */
  resumeReading(): void {
    if (!this.#isPaused) return;
    if (this.#socket === null) this.resumeEngineReads();
    else this.#socket.resume();
  }

  pauseReading(): void {
    if (this.#isPaused) return;
    if (this.#socket === null) this.pauseEngineReads();
    else this.#socket.pause();
  }

  resumeEngineReads(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isFull) this.native.resume();
  }

  pauseEngineReads(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.native.pause();
  }

  onDrain(): void {
    const unsent = this.#unsent;
    this.#unsent = null;
    this.#socket?.onDrain();
    if (unsent === null) return;
    for (const [response, inContext] of unsent) {
      const isOwn = inContext !== undefined;
      if (isOwn) inContext(() => proceedInContext(this, response, true));
      else this.runInAsyncScope(proceedInContext, undefined, this, response, false);
    }
  }

  onFile(): void {
    this.file?.onMoved();
  }

  /** No activity for the configured time. A listener decides; otherwise the connection ends. */
  onTimeout(): void {
    const { incoming, first, server } = this;
    const listens =
      mayHaveTimeoutListener(server) ||
      mayHaveTimeoutListener(incoming) ||
      mayHaveTimeoutListener(first) ||
      this.#socket !== null;
    if (listens) this.socket().emit('timeout');
    else this.native.destroy();
  }

  /** The client has ended its side: the last pending response ends ours. */
  onEnd(isHalfOpen: boolean): void {
    if (!isHalfOpen) {
      this.socket().end();
      return;
    }
    const last = this.#later.at(-1) ?? this.first;
    if (last === null) this.native.closeSoon();
    else last._last = true;
  }

  /** The engine's final event for this connection. */
  onClose(errno: number): void {
    if (errno === EIO && this.file !== null) this.file.onUnreadable(() => this.#lost(errno));
    else this.#lost(errno);
  }

  #lost(errno: number): void {
    const error = errno === 0 ? undefined : systemError(errno, 'read');
    const { server } = this;
    if (error !== undefined && (isEmitReplaced(server) || hasListener(server, 'clientError'))) {
      this.socket();
    }
    if (this.#socket !== null) this.#socket.onNativeClose(error);
    else this.closed();
  }

  /** Notifies all pending messages in Node's order: requests, queued responses, then the current response. */
  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.file?.onLost();
    const { first } = this;
    const later = this.#later;
    if (first !== null) mendPrototypes(first.req, first);
    this.#later = [];
    if (first !== null) runInContext(first.req, reset, first.req);
    for (const response of later) {
      mendPrototypes(response.req, response);
      runInContext(response.req, reset, response.req);
    }
    for (const response of later) runInContext(response.req, reset, response);
    if (first !== null) runInContext(first.req, lose, first, this.#socket?.errored);
    this.emitDestroy();
    this.server._emitCloseIfDrained();
  }

  leave(): { fd: number } | undefined {
    const detached = this.native.detach();
    if (detached === undefined) return undefined;
    this.server.countDetached();
    this.detached();
    this.first = null;
    this.#later = [];
    return detached;
  }

  /** The descriptor has left the engine: the connection is now a plain socket. */
  detached(): void {
    this.isClosed = true;
    this.#socket = null;
    this.emitDestroy();
  }
}

function reset(message: { destroy(error: Error): unknown }): void {
  message.destroy(connectionReset());
}

/** Ends the current response of a lost connection. */
function lose(response: EngineResponse, error: Error | null | undefined): void {
  callWriteCallbacks(response, lostError(response) ?? error ?? streamDestroyed('write'));
  callEndCallbacks(response, false);
  emitClose(response);
}

function mayHaveTimeoutListener(emitter: (EmitterInternals & { emit: unknown }) | null): boolean {
  return emitter !== null && (isEmitReplaced(emitter) || hasListener(emitter, 'timeout'));
}

/** User code may have replaced `on`. */
function isOnSeen(request: EngineRequest, { custom }: ServingServer): boolean {
  return isOnReplaced(request) || custom.request !== undefined;
}

/** The engine's close code for a file that became unreadable in the middle of a chunk. */
const EIO = constants.errno.EIO;

function nothing(): void {}
