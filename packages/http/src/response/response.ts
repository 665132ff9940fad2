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
} from '../node/node-internals.ts';
import {
  areResponsesReplaced,
  isEndReplaced,
  isFlushHeadersReplaced,
  isHeard,
  isWriteReplaced,
} from '../node/replaced-methods.ts';
import { expectFile } from './piped-file.ts';
import { storeHeader } from './response-head.ts';
import { defineHeaderMethods, isStrict } from './response-headers.ts';
import {
  bindCallback,
  handOver,
  heldLength,
  isChunk,
  isUnusual,
  lengthOf,
  nodeMethod,
  nodeResponse,
  sendEnd,
  sendHead,
  writeBody,
  writeUnframed,
} from './response-output.ts';
import {
  kConnection,
  kDirect,
  kHeld,
  kIsAscii,
  kIsNodes,
  kJoinedLength,
  kSequence,
  kTickBytes,
  kWriteCallbacks,
} from '../node/message-state.ts';

type Callback = (error?: Error | null) => void;
type Chunk = string | Uint8Array;

/** The fields that most responses are written to, in one order, so that all of them have one shape. */
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
 * The response to a request that the engine parsed: a `http.ServerResponse` whose fields begin as defaults of the
 * prototype, and whose common path, a head and a whole body, leaves in one piece. The rest is Node's own methods.
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
    if (this[kDirect] && !this.finished && !this.destroyed && !isSpecial(this) && isChunk(chunk)) {
      if (this._header === null) this._implicitHeader();
      // A wrapper of writeHead may have done anything.
      if (this._hasBody && this[kDirect]) return writeBody(this, chunk, encoding, callback);
    }
    if (!this.finished) handOver(this);
    return nodeResponse.write.apply(this, arguments as never);
  }

  end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (isEndReplaced()) {
      // As it was called.
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
    if (!this[kDirect] || this.finished || this.destroyed || isSpecial(this)) {
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
      // As with Node, nothing leaves any more, and nothing is reported as sent.
      this.finished = true;
      return this;
    }
    if (typeof callback === 'function') {
      (this[kEndCallbacks] ??= []).push(bindCallback(this, callback as Callback));
    }
    sendEnd(this, body, encoding as BufferEncoding);
    this.finished = true;
    const connection = this[kConnection];
    if (isHeard(this) && connection.first === this) this.emit('prefinish');
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
    if (this[kDirect] && !this._headerSent) sendHead(this, 'utf8');
  }

  /** @internal Bytes that wait for the response's turn. */
  get outputSize(): number {
    const connection = this[kConnection];
    return connection === undefined || connection.first === this ? 0 : heldLength(this);
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
    // The callbacks of joined chunks are called with the error before the connection ends.
    if (this[kJoinedLength] > 0 && !this.destroyed) handOver(this);
    return nodeMethod(this, 'destroy').call(this, error);
  }

  uncork(): void {
    // A Node that joins chunks has corked it for this tick.
    if (joinsChunks && !this.finished && this[kHeld]) handOver(this);
    nodeMethod(this, 'uncork').call(this);
  }

  // A Node that joins chunks corks the response itself until the tick of its first write is over.
  get writableCorked(): number {
    const isInTick =
      joinsChunks && this[kDirect] && this[kHeld] && this[kConnection].first === this;
    return isInTick ? this[kCorked] + 1 : this[kCorked];
  }

  // Node's server is the first listener of "finish"; here it may come later.
  listenerCount(event: string | symbol, listener?: never): number {
    const own = event === 'finish' && listener === undefined && this[kDirect] ? 1 : 0;
    return own + nodeResponse.listenerCount.call(this, event, listener);
  }

  /** @internal Node's own `end` or `write`, which somebody kept: all that it sends goes its way. */
  _send(..._given: unknown[]): boolean {
    handOver(this);
    return nodeMethod(this, '_send').apply(this, arguments as never);
  }

  /** @internal Where Node's own methods put their bytes: 1xx answers, for one. */
  _writeRaw(data: Chunk, encoding?: unknown, callback?: unknown, _size?: number): boolean {
    if (this[kDirect] && this.outputData.length === 0 && !isUnusual(this)) {
      return writeUnframed(this, data, encoding as BufferEncoding, callback as Callback);
    }
    handOver(this);
    return nodeMethod(this, '_writeRaw').apply(this, arguments as never);
  }

  /** @internal What `writeHead` of Node ends in. */
  _storeHeader(firstLine: string, headers: unknown): void {
    const isNodes = this[kConnection] === undefined || this[kIsNodes];
    if (!isNodes && isStrict(this)) {
      storeHeader(this, firstLine, headers);
      return;
    }
    // Its encoding is found out when it leaves.
    if (!isNodes) this[kIsAscii] = false;
    nodeResponse._storeHeader.call(this, firstLine, headers);
  }

  /** @internal */
  _nodeEnd(chunk: unknown, encoding: unknown, callback: unknown): this {
    const wasFinished = this.finished;
    if (!wasFinished) handOver(this);
    nodeResponse.end.call(this, chunk, encoding, callback);
    // As with Node, an end behind the connection's own is not reported.
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
} = EngineResponse.prototype;
const { assignSocket, detachSocket } = http.ServerResponse.prototype;
const { _finish, _flush, _flushOutput } = http.ServerResponse.prototype as never as Response;

/** Only Node's own methods handle it, or call what somebody has replaced: on this response, or on what it inherits from. */
function isSpecial(response: Response): boolean {
  return (
    isUnusual(response) ||
    response._send !== ownSend ||
    (response[kJoinedLength] > 0 && areResponsesReplaced()) ||
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

/** Somebody has replaced, since the first write of this tick, what Node calls with its joined chunks. */
export function isReplacedInTick(response: Response): boolean {
  return response[kJoinedLength] > 0 && (areResponsesReplaced() || response._send !== ownSend);
}

/** What is written to it goes the short way. */
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
defineOwn(prototype, kHeld, null);
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
    // A message that Node's constructor has not seen: nobody serves it.
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
  // Node's constructor, where a class inherits from this prototype.
  set(this: EngineResponse, highWaterMark: number) {
    defineOwn(this, kHighWaterMark, highWaterMark);
  },
});
