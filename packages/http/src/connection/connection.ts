import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { constants } from 'node:os';
import { nextTick } from '../node/clocks.ts';
import { ConnectionSocket } from './connection-socket.ts';
import { connectionReset, streamDestroyed, systemError } from '../errors.ts';
import type {
  EngineConnection,
  EngineRequest,
  EngineResponse,
  FileSource,
  ServingServer,
} from '../exchange.ts';
import { hasFinishSubscribers, publishFinish } from './channels.ts';
import type { Connection as NativeConnection } from '../native/index.ts';
import {
  kCorked,
  kErrored,
  joinsChunks,
  kWritableFinished,
  type EmitterInternals,
} from '../node/node-internals.ts';
import { addFirstListener, hasListener } from '../node/own-listeners.ts';
import { isHeard, isOnReplaced, isWatched } from '../node/replaced-methods.ts';
import { mendPrototypes } from './replaced-prototypes.ts';
import { releaseRequest } from '../request/request-body.ts';
import { isReplacedInTick } from '../response/response.ts';
import {
  emitClose,
  finishNode,
  forgetCallbacks,
  handOver,
  heldLength,
  lostError,
  nodeResponse,
  releaseHeld,
  roughLength,
  settleEnd,
  settleWrites,
} from '../response/response-output.ts';
import { kConnection, kDirect, kHeld, kIsNodes } from '../node/message-state.ts';

type InContext = ReturnType<typeof AsyncLocalStorage.snapshot>;

/** One connection of the engine: the responses that are due on it, in order, and the socket when somebody asks for it. */
export class HttpConnection extends AsyncResource implements EngineConnection {
  readonly native: NativeConnection;
  readonly server: ServingServer;
  /** The response whose turn it is. */
  first: EngineResponse | null = null;
  /** The request that came last: bytes of a body belong to it. */
  incoming: EngineRequest | null = null;
  /** The file that the engine sends a part of. */
  file: FileSource | null = null;
  /** Requests so far, for `maxRequestsPerSocket`. */
  requestCount = 0;
  /** "close" was emitted, or is due on no object at all. */
  isClosed = false;

  #socket: ConnectionSocket | null = null;
  /** The responses behind the first. */
  #later: EngineResponse[] = [];
  /** Responses that wait until the kernel has taken everything, with their own context where they have one. */
  #unsent: Map<EngineResponse, InContext | undefined> | null = null;
  #isPaused = false;
  /** What was written for responses before their turn. */
  #waiting = 0;
  /** No more requests are read: too much of that waits. */
  #isFull = false;
  /** The socket, until the tick is over. */
  #isCorked = false;
  /** The last response is complete. */
  #isEnding = false;

  constructor(native: NativeConnection, server: ServingServer) {
    super('HTTPINCOMINGMESSAGE', { requireManualDestroy: true });
    this.native = native;
    this.server = server;
  }

  /** What stands for the connection where Node has a socket: made when first asked for. */
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

  /** Bytes lie in the socket's own buffer, or would: nothing may overtake them. */
  holdsBytes(): boolean {
    const socket = this.#socket;
    return socket !== null && (socket.bufferedLength > 0 || socket.writableCorked > 0);
  }

  /** A response that held bytes gives them to the socket, where they wait for the same tick. */
  corkUntilTick(needsDrain: boolean): void {
    const socket = this.socket();
    this.#isCorked = true;
    socket.cork();
    if (needsDrain) socket.expectDrain();
  }

  passDrain(): void {
    this.socket().passDrain();
  }

  /** Nobody has ended or destroyed the socket. */
  isWritable(): boolean {
    return this.#socket === null || this.#socket.writable;
  }

  unsent(): number {
    const held = this.first === null ? 0 : heldLength(this.first);
    return held + this.native.unsent;
  }

  /** A response takes its place in the line. As with Node it is the last that is read while much waits for its turn. */
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

  /** As Node's server does when it has announced the request: the response gets the socket, if it is its turn. */
  begin(response: EngineResponse): void {
    if (response[kIsNodes]) {
      if (this.first === response) this.#assign(response);
      response.on('finish', () => finishNode(response));
    } else if (isWatched(response) && this.first === response) {
      response.emit('socket', this.socket());
    }
  }

  /** Node's own emits "socket", and passes on what the response holds. */
  #assign(response: EngineResponse): void {
    const socket = this.socket();
    socket.expectMessage();
    response.assignSocket(socket);
  }

  countWaiting(length: number): void {
    this.#waiting += length;
  }

  owes(request: EngineRequest): boolean {
    return this.first?.req === request || this.#later.some(({ req }) => req === request);
  }

  /** All bytes of the response are with the engine. "finish" follows when they are with the kernel, and in its turn. */
  ended(response: EngineResponse): void {
    if (this.first === response) this.afterTick(response);
  }

  /** Calls back in the next tick, or as soon as the kernel has taken what waits. */
  afterTick(response: EngineResponse): void {
    if (isHeard(response)) {
      // A tick of its own keeps the asynchronous context of the caller for the listeners.
      nextTick(continueResponse, response);
    } else if (unheard.push(response) === 1) {
      nextTick(continueUnheard);
    }
  }

  /** The engine closes the connection before the listeners of "finish" run. With Node its addresses are still known there. */
  expectLast(response: EngineResponse): void {
    if (isHeard(response) || hasFinishSubscribers()) this.native.keepAddresses();
  }

  /** Goes on with what waits for the kernel. `isOwn`: the current context is the response's own. */
  proceed(response: EngineResponse, isOwn: boolean): void {
    if (isReplacedInTick(response) && this.first === response) handOver(response);
    if (this.#isCorked) {
      this.#isCorked = false;
      if (response[kCorked] > 0 && !response[kDirect] && joinsChunks)
        nodeResponse.uncork.call(response);
      else this.#socket?.uncork();
    }
    // Behind another response nothing leaves: what it writes is held and counted until its turn comes.
    if (this.isClosed || this.first !== response) return;
    // What it wrote in this tick is lost with the connection, which is reported when that is closed.
    if (response[kHeld] && (this.native.destroyed || !this.isWritable())) return;
    releaseHeld(response);
    if (this.native.pending > 0) {
      const inContext = isOwn ? AsyncLocalStorage.snapshot() : this.#unsent?.get(response);
      (this.#unsent ??= new Map()).set(response, inContext);
      return;
    }
    settleWrites(response, null);
    if (response.finished && response[kDirect]) finish(response);
  }

  /** What was corked behind the end of the response leaves. Node's `end` uncorks the socket a tick later. */
  uncorkEnded(response: EngineResponse): void {
    for (let corks = response[kCorked]; corks > 0; corks--) this.#socket?.uncork();
  }

  release(response: EngineResponse): void {
    const { req: request } = response;
    publishFinish(response, this);
    releaseRequest(request, this);
    if (this.incoming !== request) return;
    // As Node's server does, for the sake of its parser.
    if (isOnSeen(request, this.server) && !request.readableEnded) request.on('end', nothing);
    if (request.complete) this.incoming = null;
  }

  /** The first response is complete, and its request is let go: the next response has its turn. */
  finished(response: EngineResponse): void {
    if (this.first !== response) return;
    // As Node's server does: the socket says at "finish" that it ends.
    if (response._last && this.#socket !== null) this.#socket.end();
    if (response[kDirect]) this.uncorkEnded(response);
    if (response._last) {
      // It closes the connection: nothing follows it.
      this.first = null;
      this.#isEnding = true;
      return;
    }
    const next = this.#later.shift() ?? null;
    this.first = next;
    if (next !== null) this.#giveTurn(next);
  }

  #giveTurn(response: EngineResponse): void {
    if (response[kDirect]) this.#waiting -= roughLength(response[kHeld]);
    if (!response[kDirect]) {
      this.#assign(response);
      if (this.isWritable()) this.#readOn();
      return;
    }
    if (isWatched(response) || hasListener(response, 'socket')) {
      response.emit('socket', this.socket());
    }
    // As with Node a socket that ends takes no more: what was written for the response is lost with the connection.
    if (!this.isWritable()) {
      forgetCallbacks(response);
      return;
    }
    releaseHeld(response);
    // With Node an end before its turn is one when that comes.
    if (response.finished && isHeard(response)) response.emit('prefinish');
    this.afterTick(response);
    this.#readOn();
  }

  /** Not too much waits any more. */
  #readOn(): void {
    if (!this.#isFull || this.#waiting >= this.server.highWaterMark) return;
    this.#isFull = false;
    if (!this.#isPaused) this.native.resume();
  }

  /** As with Node, who listens to the socket hears "pause" and "resume". */
  resumeReading(): void {
    if (!this.#isPaused) return;
    if (this.#socket === null) this.readMore();
    else this.#socket.resume();
  }

  pauseReading(): void {
    if (this.#isPaused) return;
    if (this.#socket === null) this.readLess();
    else this.#socket.pause();
  }

  readMore(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isFull) this.native.resume();
  }

  readLess(): void {
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
      if (inContext === undefined) this.runInAsyncScope(this.proceed, this, response, false);
      else inContext(() => this.proceed(response, true));
    }
  }

  onFile(): void {
    this.file?.onMoved();
  }

  /** Nothing happened for the requested time. A listener decides; otherwise the connection ends. */
  onTimeout(): void {
    const { incoming, first, server } = this;
    const listens =
      hearsTimeout(server) ||
      hearsTimeout(incoming) ||
      hearsTimeout(first) ||
      this.#socket !== null;
    if (listens) this.socket().emit('timeout');
    else this.native.destroy();
  }

  /** The client has ended its side: the last response that is due ends ours. */
  onEnd(isHalfOpen: boolean): void {
    if (!isHalfOpen) {
      this.socket().end();
      return;
    }
    const last = this.#later.at(-1) ?? this.first;
    if (last === null) this.native.closeSoon();
    else last._last = true;
  }

  /** The engine's last word on this connection. */
  onClose(errno: number): void {
    if (errno === EIO && this.file !== null) this.file.onUnreadable(() => this.#lost(errno));
    else this.#lost(errno);
  }

  #lost(errno: number): void {
    const error = errno === 0 ? undefined : systemError(errno, 'read');
    const { server } = this;
    if (error !== undefined && (isWatched(server) || hasListener(server, 'clientError'))) {
      this.socket();
    }
    if (this.#socket !== null) this.#socket.onNativeClose(error);
    else this.closed();
  }

  /** Tells everything that was under way: Node's order is requests, waiting responses, then the current one. */
  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.file?.onLost();
    const { first } = this;
    const later = this.#later;
    if (first !== null) mendPrototypes(first.req, first);
    this.#later = [];
    if (first !== null) first.req.destroy(connectionReset());
    for (const response of later) {
      mendPrototypes(response.req, response);
      response.req.destroy(connectionReset());
    }
    for (const response of later) response.destroy(connectionReset());
    if (first !== null) {
      const reason = lostError(first) ?? this.#socket?.errored ?? streamDestroyed('write');
      settleWrites(first, reason);
      settleEnd(first, false);
      emitClose(first);
    }
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

  /** The descriptor has left the engine: the connection is a plain socket from here on. */
  detached(): void {
    this.isClosed = true;
    this.#socket = null;
    this.emitDestroy();
  }
}

/** Responses that nobody listens to: one tick serves all of them. */
let unheard: EngineResponse[] = [];

function continueUnheard(): void {
  const responses = unheard;
  unheard = [];
  for (const response of responses) {
    const connection = connectionOf(response);
    try {
      // Listeners must not run in the context of the first of these.
      if (!isHeard(response)) connection.proceed(response, false);
      else connection.runInAsyncScope(connection.proceed, connection, response, false);
    } catch (error) {
      connection.native.report(error);
    }
  }
}

function continueResponse(response: EngineResponse): void {
  connectionOf(response).proceed(response, true);
}

function connectionOf(response: EngineResponse): HttpConnection {
  return response[kConnection] as HttpConnection;
}

function hearsTimeout(emitter: (EmitterInternals & { emit: unknown }) | null): boolean {
  return emitter !== null && (isWatched(emitter) || hasListener(emitter, 'timeout'));
}

/** Somebody may have replaced `on`. */
function isOnSeen(request: EngineRequest, { custom }: ServingServer): boolean {
  return isOnReplaced(request) || custom.request !== undefined;
}

/** The engine closes with it when a file cannot be read in the middle of a chunk. */
const EIO = constants.errno.EIO;

function nothing(): void {}

/** Marks an `emit` that only calls the original, in another context: `@redline/defer` has one for each response. */
const kCallsThrough = Symbol.for('redline.calls-through');

/** A replaced `emit` may hold "finish" back, and with it what Node does then. */
function mayHoldBack(response: EngineResponse): boolean {
  if (!isWatched(response)) return false;
  const below = Reflect.getPrototypeOf(response) as EngineResponse;
  return !(kCallsThrough in response.emit) || isWatched(below);
}

/** The bytes of a direct response are with the kernel. */
function finish(response: EngineResponse): void {
  const connection = response[kConnection];
  if (response[kWritableFinished] || connection.first !== response) return;
  if (response[kErrored]) {
    // Destroyed with an error before its turn, behind its end. Node never gives the turn to the next response.
    settleEnd(response, false);
    connection.release(response);
    connection.finished(response);
    return;
  }
  response[kWritableFinished] = true;
  settleEnd(response, true);
  if (mayHoldBack(response)) {
    addFirstListener(response, 'finish', () => {
      if (connection.first !== response) return;
      connection.release(response);
      nextTick(emitClose, response);
      connection.finished(response);
    });
    response.emit('finish');
    return;
  }
  connection.release(response);
  if (response._events === undefined) {
    connection.finished(response);
    // Subscribers of the channel may listen by now.
    if (response._events === undefined) {
      response.destroyed = true;
      response._closed = true;
      return;
    }
    nextTick(emitClose, response);
  } else {
    // Before the ticks of the next response.
    nextTick(emitClose, response);
    connection.finished(response);
  }
  response.emit('finish');
}
