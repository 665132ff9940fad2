import type { Socket } from 'node:net';
import type { EngineConnection, EngineRequest, EngineResponse as Response } from '../exchange.ts';
import { defineHidden, defineOwn, inheritDefaults } from '../node/message-defaults.ts';
import { http } from '../node/node-http.ts';
import {
  freshOutgoing,
  joinsChunks,
  kCorked,
  kChunkedLength,
  kEndCallbacks,
  kHighWaterMark,
  kOutHeaders,
  kOutSocket,
  kRejectBody,
  kWritableFinished,
  listensForEnd,
} from '../node/node-internals.ts';
import {
  areResponsesReplaced,
  isEndReplaced,
  isFlushHeadersReplaced,
  mayHaveListeners,
  isWriteReplaced,
  original,
} from '../node/replaced-methods.ts';
import { expectFile } from './piped-file.ts';
import { storeHeader } from './response-head.ts';
import { defineHeaderMethods, isStrict } from './response-headers.ts';
import { handOver } from './hand-over.ts';
import { nodeMethod, nodeResponse } from './node-methods.ts';
import {
  flushHead,
  bufferedLength,
  isChunk,
  isUnusual,
  lengthOf,
  sendEnd,
  writeBody,
  writeUnframed,
  type Chunk,
} from './response-output.ts';
import { bindCallback, type Callback } from './write-callbacks.ts';
import {
  kConnection,
  kDirect,
  kBuffered,
  kIsAscii,
  kIsNodes,
  kJoinedLength,
  kSequence,
  kTickBytes,
  kWriteCallbacks,
} from '../node/message-state.ts';

/** Sets the fields written by most responses in one order, so that all responses have one shape. */
export function startResponse(
  response: Response,
  request: EngineRequest,
  connection: EngineConnection,
  sequence: number,
  keepAlive: boolean,
): void {
  const { server } = connection;
  response._events = undefined;
  response.req = request;
  response[kConnection] = connection;
  response[kSequence] = sequence;
  response[kDirect] = true;
  response[kOutHeaders] = null;
  response.statusCode = 200;
  response.statusMessage = undefined as never;
  response._header = null;
  response._headerSent = false;
  response[kIsAscii] = true;
  response._contentLength = null;
  response._hasBody = request.method !== 'HEAD';
  response._last = false;
  response._keepAliveTimeout = server.keepAliveTimeout;
  response._maxRequestsPerSocket = server.maxRequestsPerSocket!;
  response.chunkedEncoding = false;
  response.shouldKeepAlive = keepAlive;
  response.finished = false;
  response[kWritableFinished] = false;
  response.destroyed = false;
  response._closed = false;
}

/**
 * The response to a request parsed by the engine: an `http.ServerResponse` whose fields start as defaults of the prototype.
 * A head with a whole body, the common case, is sent in one piece. Everything else is Node's own methods.
 */
// eslint-disable-next-line typescript/no-unsafe-declaration-merging -- the prototype below ends in ServerResponse's
export interface EngineResponse extends Response {}

// eslint-disable-next-line typescript/no-unsafe-declaration-merging
export class EngineResponse {
  constructor(
    request: EngineRequest,
    connection: EngineConnection,
    sequence: number,
    keepAlive: boolean,
  ) {
    startResponse(this, request, connection, sequence, keepAlive);
  }

  write(chunk: never, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    if (isWriteReplaced()) {
      handOver(this);
      return nodeMethod(this, 'write').apply(this, arguments as never);
    }
    if (typeof encoding === 'function') {
      callback = encoding;
      encoding = undefined;
    }
    if (
      this[kDirect] &&
      !this.finished &&
      !this.destroyed &&
      !isSpecial(this) &&
      isChunk(chunk) &&
      isEncoding(encoding)
    ) {
      if (this._header === null) this._implicitHeader();
      // A wrapper of writeHead may have changed any state.
      if (this._hasBody && this[kDirect]) return writeBody(this, chunk, encoding, callback);
    }
    if (!this.finished) handOver(this);
    return nodeResponse.write.apply(this, arguments as never);
  }

  end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (isEndReplaced()) {
      // Passes the original arguments.
      handOver(this);
      return nodeMethod(this, 'end').apply(this, arguments as never);
    }
    if (typeof chunk === 'function') {
      callback = chunk;
      chunk = undefined;
      encoding = undefined;
    } else if (typeof encoding === 'function') {
      callback = encoding;
      encoding = undefined;
    }
    if (
      !this[kDirect] ||
      this.finished ||
      this.destroyed ||
      isSpecial(this) ||
      (listensForEnd && callback && isListenerSeen(this))
    ) {
      return this._nodeEnd(chunk, encoding, callback);
    }
    let body: Chunk | undefined;
    if (chunk) {
      if (!isChunk(chunk)) return this._nodeEnd(chunk, encoding, callback);
      body = chunk;
    }
    if (this._header === null) {
      this._contentLength = body === undefined ? 0 : lengthOf(body, encoding as BufferEncoding);
      this._implicitHeader();
      if (!this[kDirect] || this.finished) return this._nodeEnd(chunk, encoding, callback);
    }
    if (!this._hasBody && body !== undefined) {
      if (this[kRejectBody]) return this._nodeEnd(chunk, encoding, callback);
      body = undefined;
    }
    const { native } = this[kConnection];
    if (native.destroyed || native.closed) {
      // As in Node, no more bytes are sent, and none are reported as sent.
      this.finished = true;
      return this;
    }
    if (typeof callback === 'function') {
      (this[kEndCallbacks] ??= []).push(bindCallback(this, callback as Callback));
    }
    sendEnd(this, body, encoding as BufferEncoding);
    this.finished = true;
    const connection = this[kConnection];
    if (mayHaveListeners(this) && connection.first === this) this.emit('prefinish');
    connection.ended(this);
    return this;
  }

  flushHeaders(): void {
    if (isFlushHeadersReplaced() || !this[kDirect] || isSpecial(this)) {
      handOver(this);
      nodeMethod(this, 'flushHeaders').call(this);
      return;
    }
    if (this._header === null) this._implicitHeader();
    if (this[kDirect] && !this._headerSent) flushHead(this);
  }

  /** @internal Bytes queued before the response's turn. */
  get outputSize(): number {
    const connection = this[kConnection];
    return connection === undefined || connection.first === this ? 0 : bufferedLength(this);
  }
  set outputSize(size: number) {
    defineOwn(this, 'outputSize', size);
  }

  on(event: string | symbol, listener: (...rest: never[]) => unknown): this {
    if (event === 'unpipe') expectFile(this, listener, isPlain);
    return nodeResponse.on.call(this, event, listener);
  }

  cork(): void {
    if (!this.finished) handOver(this);
    nodeMethod(this, 'cork').call(this);
  }

  destroy(error?: Error): this {
    // The callbacks of joined chunks get the error before the connection ends.
    if (this[kJoinedLength] > 0 && !this.destroyed) handOver(this);
    return nodeMethod(this, 'destroy').call(this, error);
  }

  uncork(): void {
    // On Node versions that join chunks, the response is corked for this tick.
    if (joinsChunks && !this.finished && this[kBuffered]) handOver(this);
    nodeMethod(this, 'uncork').call(this);
  }

  // On Node versions that join chunks, the response corks itself until the end of the tick of its first write.
  get writableCorked(): number {
    const isInTick =
      joinsChunks && this[kDirect] && this[kBuffered] && this[kConnection].first === this;
    return isInTick ? this[kCorked] + 1 : this[kCorked];
  }

  // Node's server is the first listener of "finish"; here that listener is added later.
  listenerCount(event: string | symbol, listener?: never): number {
    const own = event === 'finish' && listener === undefined && this[kDirect] ? 1 : 0;
    return own + nodeResponse.listenerCount.call(this, event, listener);
  }

  /** @internal Called by Node's own `end` or `write`, to which user code has a reference: the whole response moves to Node. */
  _send(..._given: unknown[]): boolean {
    handOver(this);
    return nodeMethod(this, '_send').apply(this, arguments as never);
  }

  /** @internal Node's own methods write their bytes here, for example 1xx responses. */
  _writeRaw(data: Chunk, encoding?: unknown, callback?: unknown, _size?: number): boolean {
    if (this[kDirect] && this.outputData.length === 0 && !isUnusual(this)) {
      return writeUnframed(this, data, encoding as BufferEncoding, callback as Callback);
    }
    handOver(this);
    return nodeMethod(this, '_writeRaw').apply(this, arguments as never);
  }

  /** @internal Called by Node's `writeHead`. */
  _storeHeader(firstLine: string, headers: unknown): void {
    const isNodes = this[kConnection] === undefined || this[kIsNodes];
    if (!isNodes && isStrict(this)) {
      storeHeader(this, firstLine, headers);
      return;
    }
    // Its encoding is determined when it is sent.
    if (!isNodes) this[kIsAscii] = false;
    nodeResponse._storeHeader.call(this, firstLine, headers);
  }

  /** @internal */
  _nodeEnd(chunk: unknown, encoding: unknown, callback: unknown): this {
    const wasFinished = this.finished;
    if (!wasFinished) handOver(this);
    nodeResponse.end.call(this, chunk, encoding, callback);
    // As in Node, an end after the end of the connection is not reported.
    if (!wasFinished && this[kConnection]?.isWritable() === false) this[kEndCallbacks] = null;
    return this;
  }
}

const {
  _send: ownSend,
  _writeRaw: ownWriteRaw,
  write: ownWrite,
  cork: ownCork,
  uncork: ownUncork,
  on: ownOn,
} = EngineResponse.prototype;
const { assignSocket, detachSocket } = http.ServerResponse.prototype;
const once = original(http.ServerResponse.prototype as never, 'once');
const removeListener = original(http.ServerResponse.prototype as never, 'removeListener');
const { _finish, _flush, _flushOutput } = http.ServerResponse.prototype as never as Response;

/**
 * Returns true for cases left to Node's own methods, and if a method called here is replaced on this response or its
 * prototypes.
 */
function isSpecial(response: Response): boolean {
  return (
    isUnusual(response) ||
    // Replaced since the response began: later messages are left to Node's methods from the start.
    areResponsesReplaced() ||
    response._send !== ownSend ||
    (response as EngineResponse)._writeRaw !== ownWriteRaw ||
    response._finish !== _finish ||
    response._flush !== _flush ||
    response._flushOutput !== _flushOutput ||
    response.cork !== ownCork ||
    response.uncork !== ownUncork ||
    response.assignSocket !== assignSocket ||
    response.detachSocket !== detachSocket
  );
}

/** Node's own methods throw for any other encoding. */
function isEncoding(encoding: unknown): boolean {
  return !encoding || encoding === 'utf8' || Buffer.isEncoding(encoding as string);
}

/** Returns true if a method that adds or removes a one-time listener is replaced. */
function isListenerSeen(response: Response): boolean {
  return (
    response.once !== once || response.on !== ownOn || response.removeListener !== removeListener
  );
}

/** Returns true if a method that Node calls with the joined chunks was replaced since the first write of this tick. */
export function isReplacedInTick(response: Response): boolean {
  return response[kJoinedLength] > 0 && (areResponsesReplaced() || response._send !== ownSend);
}

/** Returns true if its writes take the fast path. */
function isPlain(response: Response): boolean {
  return (
    response[kDirect] &&
    !response.finished &&
    !response.destroyed &&
    response.write === (ownWrite as never) &&
    !isWriteReplaced() &&
    !isSpecial(response)
  );
}

Object.setPrototypeOf(EngineResponse, http.ServerResponse);
Object.setPrototypeOf(EngineResponse.prototype, http.ServerResponse.prototype);

const prototype = EngineResponse.prototype;
defineHidden(prototype, 'constructor', http.ServerResponse);
defineHeaderMethods(prototype);
inheritDefaults(
  prototype,
  freshOutgoing,
  new Set(['_events', '_eventsCount', 'outputSize', kOutSocket, kChunkedLength]),
);
defineOwn(prototype, 'sendDate', true);
defineOwn(prototype, kIsNodes, false);
defineOwn(prototype, '_sent100', false);
defineOwn(prototype, '_expect_continue', false);
defineOwn(prototype, kTickBytes, 0);
defineOwn(prototype, kWriteCallbacks, null);
defineOwn(prototype, kBuffered, null);
defineOwn(prototype, kJoinedLength, 0);
Object.defineProperty(prototype, kChunkedLength, {
  configurable: true,
  // `writableLength` counts it.
  get(this: EngineResponse) {
    return this[kJoinedLength];
  },
  set(this: EngineResponse, length: number) {
    defineOwn(this, kChunkedLength, length);
  },
});
Object.defineProperty(prototype, kOutSocket, {
  configurable: true,
  // A response has the socket during its turn, and until it emits "finish".
  get(this: EngineResponse) {
    const connection = this[kConnection];
    // An object that Node's constructor never initialised belongs to no connection.
    if (connection === undefined) return undefined;
    return connection.first === this ? connection.socket() : null;
  },
  set(this: EngineResponse, socket: Socket | null) {
    defineOwn(this, kOutSocket, socket);
  },
});
Object.defineProperty(prototype, kHighWaterMark, {
  configurable: true,
  get(this: EngineResponse) {
    return this[kConnection]?.server.highWaterMark;
  },
  // Set by Node's constructor if a class inherits from this prototype.
  set(this: EngineResponse, highWaterMark: number) {
    defineOwn(this, kHighWaterMark, highWaterMark);
  },
});
