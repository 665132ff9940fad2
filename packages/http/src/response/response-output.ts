import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { nextTick } from '../node/clocks.ts';
import { streamDestroyed, systemError } from '../errors.ts';
import { WRITE_FLAGS } from '../native/index.ts';
import { http } from '../node/node-http.ts';
import {
  joinsChunks,
  kChunkedBuffer,
  kChunkedLength,
  kCorked,
  kEndCallbacks,
  kErrored,
  kNeedDrain,
  kOutSocket,
} from '../node/node-internals.ts';
import { defineOwn } from '../node/message-defaults.ts';
import { addFirstListener } from '../node/own-listeners.ts';
import type { EngineResponse, HeldWrites } from '../exchange.ts';
import {
  kConnection,
  kDirect,
  kHeld,
  kIsAscii,
  kJoinedLength,
  kSequence,
  kTickBytes,
  kWriteCallbacks,
} from '../node/message-state.ts';

const { CHUNK, CLOSE, END, TRAILERS } = WRITE_FLAGS;

type Chunk = string | Uint8Array;
type Callback = (error?: Error | null) => void;
type NodeMethods = Record<
  | 'write'
  | 'end'
  | 'destroy'
  | '_writeRaw'
  | '_send'
  | '_storeHeader'
  | '_isLenientHeaderValidation'
  | 'setHeader'
  | 'getHeader'
  | 'hasHeader'
  | 'removeHeader'
  | 'listenerCount'
  | 'on',
  (this: EngineResponse, ...rest: unknown[]) => never
> &
  Record<'flushHeaders' | 'cork' | 'uncork' | '_flush', (this: EngineResponse) => void>;

/** Node's own methods, for whatever is not the common path. */
export const nodeResponse: NodeMethods = http.ServerResponse.prototype as never;

/** Such a method for this response: an accessor that somebody has put in its place binds what it is read from. */
export function nodeMethod<Name extends keyof NodeMethods>(
  response: EngineResponse,
  name: Name,
): NodeMethods[Name] {
  return Reflect.get(nodeResponse, name, response) as NodeMethods[Name];
}

export function isChunk(chunk: unknown): chunk is Chunk {
  return typeof chunk === 'string' || chunk instanceof Uint8Array;
}

export function lengthOf(chunk: Chunk, encoding: BufferEncoding | undefined): number {
  return typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
}

/** A case that only Node's own methods handle: corked, counted, bytes waiting in the socket, or ended. */
export function isUnusual(response: EngineResponse): boolean {
  const connection = response[kConnection];
  return (
    response[kCorked] > 0 ||
    response.strictContentLength ||
    connection.holdsBytes() ||
    !connection.isWritable()
  );
}

/** The head, in the encoding of the text that follows it, as Node sends it. */
export function sendHead(response: EngineResponse, encoding: BufferEncoding = 'latin1'): void {
  response._headerSent = true;
  give(response, response._header!, headEncoding(response, encoding), 0);
}

/**
 * Gives bytes to the engine. Before the response's turn they are held: the socket may be written to, ended or destroyed by
 * then, and as with Node that comes first.
 */
function give(
  response: EngineResponse,
  data: Chunk,
  encoding: BufferEncoding | undefined,
  flags: number,
): void {
  const connection = response[kConnection];
  if (connection.first === response) {
    connection.native.write(response[kSequence], data, encoding, flags);
    return;
  }
  (response[kHeld] ??= []).push(data, encoding, flags);
  connection.countWaiting(data.length);
}

/** Gives the engine what this tick wrote, or what was written before the response's turn. */
export function releaseHeld(response: EngineResponse): void {
  const held = response[kHeld];
  const { first, native } = response[kConnection];
  if (held === null || first !== response) return;
  response[kHeld] = null;
  if (response[kJoinedLength] > 0) {
    sendJoined(response, held);
    return;
  }
  for (let at = 0; at < held.length; at += 3) {
    native.write(
      response[kSequence],
      held[at] as Chunk,
      held[at + 1] as BufferEncoding | undefined,
      held[at + 2] as number,
    );
  }
}

/** The chunks of a tick as one, behind the head. */
function sendJoined(response: EngineResponse, held: HeldWrites): void {
  const { native } = response[kConnection];
  const sequence = response[kSequence];
  let at = 0;
  // An empty write came first: it brought the head.
  for (; held[at + 2] !== CHUNK; at += 3) {
    native.write(sequence, held[at] as Chunk, held[at + 1] as BufferEncoding | undefined, 0);
  }
  if (!response._headerSent) sendHead(response);
  const length = response[kJoinedLength];
  response[kJoinedLength] = 0;
  if (held.length === at + 3) {
    native.write(sequence, held[at] as Chunk, held[at + 1] as BufferEncoding | undefined, CHUNK);
    return;
  }
  native.write(sequence, `${length.toString(16)}\r\n`, 'latin1', 0);
  for (; at < held.length; at += 3) {
    native.write(sequence, held[at] as Chunk, held[at + 1] as BufferEncoding | undefined, 0);
  }
  native.write(sequence, '\r\n', 'latin1', 0);
}

/** As Node counts what waits for its turn: a character as a byte. */
export function roughLength(held: HeldWrites | null): number {
  if (held === null) return 0;
  let length = 0;
  for (let at = 0; at < held.length; at += 3) length += (held[at] as Chunk).length;
  return length;
}

/** Bytes of this tick that the engine does not have yet, with what goes around chunks. */
export function heldLength(response: EngineResponse): number {
  const held = response[kHeld];
  let length = 0;
  if (held === null || held === undefined) return length;
  const hasJoined = response[kJoinedLength] > 0;
  for (let at = 0; at < held.length; at += 3) {
    const isFramed = held[at + 2] === CHUNK;
    // Joined chunks count as the response's own until they leave.
    if (isFramed && hasJoined) break;
    const chunk = held[at] as Chunk;
    // A socket counts characters.
    length += chunk.length;
    // Its size and CRLF before it, CRLF behind it.
    if (isFramed) length += 4 + lengthOf(chunk, held[at + 1] as BufferEncoding).toString(16).length;
  }
  return length;
}

function headEncoding(response: EngineResponse, followed: BufferEncoding): BufferEncoding {
  return response[kIsAscii] || !isUtf8(followed) ? 'latin1' : 'utf8';
}

/** `write`, in the middle of a response. Returns whether more may be written, by Node's count. */
export function writeBody(
  response: EngineResponse,
  chunk: Chunk,
  encoding: BufferEncoding | undefined,
  callback: Callback | undefined,
): boolean {
  const connection = response[kConnection];
  const { native } = connection;
  if (native.destroyed || native.closed) return false;
  expectTick(response);
  const held = (response[kHeld] ??= []);
  const isFirst = connection.first === response;
  if (isJoined(response, chunk) && isFirst) {
    return holdJoined(response, held, chunk, encoding, callback);
  }
  let heldNow = 0;
  if (!response._headerSent) {
    response._headerSent = true;
    heldNow = response._header!.length;
    const isText = typeof chunk === 'string' && !response.chunkedEncoding;
    held.push(
      response._header!,
      headEncoding(response, isText ? (encoding ?? 'utf8') : 'latin1'),
      0,
    );
  }
  if (typeof callback === 'function') expectCallback(response, callback);
  // An empty chunk would end the response.
  if (chunk.length > 0) {
    held.push(chunk, encoding ?? undefined, response.chunkedEncoding ? CHUNK : 0);
    response[kTickBytes] += lengthOf(chunk, encoding);
    heldNow += chunk.length;
  }
  if (!isFirst) connection.countWaiting(heldNow);
  const unsent = isFirst ? native.pending : 0;
  const isWelcome = response[kTickBytes] + unsent < connection.server.highWaterMark;
  if (!isWelcome) response[kNeedDrain] = true;
  return isWelcome;
}

/** Where Node joins them, the chunks of a tick leave as one. An empty one joins others, and is nothing alone. */
function isJoined(response: EngineResponse, chunk: Chunk): boolean {
  return (
    joinsChunks && response.chunkedEncoding && (chunk.length > 0 || response[kJoinedLength] > 0)
  );
}

/** A chunk that Node joins with the others of its tick. The head waits with the first. */
function holdJoined(
  response: EngineResponse,
  held: HeldWrites,
  chunk: Chunk,
  encoding: BufferEncoding | undefined,
  callback: Callback | undefined,
): boolean {
  if (typeof callback === 'function') expectCallback(response, callback);
  if (chunk.length > 0) held.push(chunk, encoding ?? undefined, CHUNK);
  const bytes = lengthOf(chunk, encoding);
  response[kTickBytes] += bytes;
  response[kJoinedLength] += bytes;
  const isWelcome = joinedLength(response) < response[kConnection].server.highWaterMark;
  if (!isWelcome) response[kNeedDrain] = true;
  return isWelcome;
}

/**
 * Its `writableLength`, as far as it is known: that would have the engine send what waits, for each chunk, and need the socket.
 */
function joinedLength(response: EngineResponse): number {
  const joined = response[kJoinedLength];
  const hexDigits = (35 - Math.clz32(joined)) >> 2;
  const head = response._headerSent ? 0 : response._header!.length;
  // CRLF behind the size, and behind the chunk.
  const framed = joined + hexDigits + 4 + head;
  return framed + heldLength(response) + response[kConnection].native.pending;
}

/** Bytes outside the body: 1xx responses. */
export function writeUnframed(
  response: EngineResponse,
  data: Chunk,
  encoding: BufferEncoding | Callback | undefined,
  callback: Callback | undefined,
): boolean {
  if (typeof encoding === 'function') {
    callback = encoding;
    encoding = undefined;
  }
  const connection = response[kConnection];
  const { first, native, server } = connection;
  if (native.destroyed || native.closed) return false;
  if (typeof callback === 'function') {
    expectTick(response);
    expectCallback(response, callback);
  }
  if (data.length > 0) {
    const held = response[kHeld];
    if (held === null) {
      give(response, data, encoding, 0);
    } else {
      held.push(data, encoding, 0);
      if (first !== response) connection.countWaiting(data.length);
    }
  }
  const unsent = first === response ? native.pending : heldLength(response);
  return unsent < server.highWaterMark;
}

/** The end of a response, with the head and the body when they have not left yet. */
export function sendEnd(
  response: EngineResponse,
  body: Chunk | undefined,
  encoding: BufferEncoding | undefined,
): void {
  const { first, native } = response[kConnection];
  let flags = END;
  if (response._last) {
    flags |= CLOSE;
    response[kConnection].expectLast(response);
  }
  if (response[kJoinedLength] > 0 && body !== undefined && body.length > 0) {
    holdJoined(response, response[kHeld]!, body, encoding, undefined);
    body = undefined;
  }
  releaseHeld(response);
  if (typeof body === 'string' && encoding && !isUtf8(encoding)) body = Buffer.from(body, encoding);
  const isChunked = response.chunkedEncoding && response._hasBody;

  if (!response._headerSent) {
    const isWhole = !isChunked && (response[kIsAscii] || typeof body !== 'string');
    if (isWhole && first === response) {
      response._headerSent = true;
      native.answer(response[kSequence], response._header!, body, flags);
      return;
    }
    sendHead(response, isChunked ? undefined : (encoding ?? 'utf8'));
  }
  if (!isChunked) {
    give(response, body ?? '', 'utf8', flags);
  } else if (response._trailer === '') {
    give(response, body ?? '', 'utf8', CHUNK | flags);
  } else {
    if (body) give(response, body, 'utf8', CHUNK);
    give(response, response._trailer, 'latin1', TRAILERS | flags);
  }
}

/**
 * From here on the response is Node's: its own methods write raw bytes to the connection's socket. What it holds waits where
 * it would with Node: in the socket, corked until the tick is over, or in the response until its turn.
 */
export function handOver(response: EngineResponse): void {
  if (!response[kDirect] || response.finished) return;
  response[kDirect] = false;
  const connection = response[kConnection];
  const socket = connection.first === response ? connection.socket() : null;
  defineOwn(response, kOutSocket, socket);
  addFirstListener(response, 'finish', () => finishNode(response));
  if (socket === null) response._onPendingData = (length) => connection.countWaiting(length);
  const held = response[kHeld];
  if (held === null) return;
  response[kHeld] = null;
  if (socket === null) {
    connection.countWaiting(-roughLength(held));
  } else {
    connection.corkUntilTick(response[kNeedDrain]);
    if (joinsChunks) response[kCorked] += 1;
  }
  if (response[kJoinedLength] > 0) {
    passJoined(response, held, takeCallbacks(response), socket!);
    return;
  }
  passOn(response, held, takeCallbacks(response), socket);
}

/** Framed as Node's own `write` frames it. */
function passOn(
  response: EngineResponse,
  held: HeldWrites,
  callback: Callback | undefined,
  socket: Socket | null,
): void {
  const pass = (data: Chunk, encoding?: BufferEncoding, done?: Callback): void => {
    if (socket !== null) {
      socket.write(data, encoding, done);
      return;
    }
    response.outputData.push({ data, encoding, callback: done });
    response.outputSize += data.length;
    response._onPendingData(data.length);
  };
  const last = held.length - 3;
  for (let at = 0; at <= last; at += 3) {
    const data = held[at] as Chunk;
    const encoding = held[at + 1] as BufferEncoding | undefined;
    const done = at === last ? callback : undefined;
    if (held[at + 2] === CHUNK) {
      pass(`${lengthOf(data, encoding).toString(16)}\r\n`, 'latin1');
      pass(data, encoding);
      pass('\r\n', 'latin1', done);
    } else {
      pass(data, encoding, done);
    }
  }
}

/** As if Node's own `write` had kept them: it joins them when the tick is over, whatever the socket does until then. */
function passJoined(
  response: EngineResponse,
  held: HeldWrites,
  callback: Callback | undefined,
  socket: Socket,
): void {
  const last = held.length - 3;
  for (let at = 0; at <= last; at += 3) {
    const chunk = held[at] as Chunk;
    if (held[at + 2] !== CHUNK) {
      socket.write(chunk, held[at + 1] as BufferEncoding | undefined);
      continue;
    }
    const data =
      typeof chunk === 'string'
        ? chunk
        : Buffer.from(chunk.buffer as ArrayBuffer, chunk.byteOffset, chunk.byteLength);
    response[kChunkedBuffer].push(data, held[at + 1], (at === last && callback) || ignore);
  }
  response[kChunkedLength] = response[kJoinedLength];
  response[kJoinedLength] = 0;
}

function ignore(): void {}

/** Those of `write`, as one. */
function takeCallbacks(response: EngineResponse): Callback | undefined {
  const callbacks = response[kWriteCallbacks];
  if (callbacks === null) return undefined;
  response[kWriteCallbacks] = null;
  return (error) => {
    for (const callback of callbacks) callback(error ?? null);
  };
}

/** Node's own methods have given all bytes to the socket, and it to the kernel: the next answer may follow. */
export function finishNode(response: EngineResponse): void {
  const connection = response[kConnection];
  const flags = response._last ? END | CLOSE : END;
  connection.release(response);
  // As Node's server does: it uncorks it of what was corked behind the end, and later corks do not reach it.
  response.detachSocket(connection.socket());
  connection.native.write(response[kSequence], '', 'latin1', flags);
  nextTick(emitClose, response);
  connection.finished(response);
}

/** "close", once. */
export function emitClose(response: EngineResponse): void {
  if (response._closed) return;
  response.destroyed = true;
  response._closed = true;
  response.emit('close');
}

/** Calls back for bytes that the kernel has by now: "drain" before the callbacks, as with Node's sockets. */
export function settleWrites(response: EngineResponse, error: Error | null): void {
  response[kTickBytes] = 0;
  const callbacks = response[kWriteCallbacks];
  if (callbacks !== null) response[kWriteCallbacks] = null;
  if (error === null && response[kNeedDrain] && !response.finished) {
    if (response[kDirect]) {
      response[kNeedDrain] = false;
      response.emit('drain');
    } else {
      response[kConnection].passDrain();
    }
  }
  if (callbacks !== null) for (const callback of callbacks) callback(error);
}

/** What became of bytes that the kernel had not taken when this side ended the connection. */
export function lostError(response: EngineResponse): Error | undefined {
  const { native } = response[kConnection];
  return native.destroyed && native.pending > 0
    ? systemError(constants.errno.ECANCELED, 'write')
    : undefined;
}

/** Its bytes will not leave; as with Node, nothing is reported for those that never reached the socket. */
export function forgetCallbacks(response: EngineResponse): void {
  response[kWriteCallbacks] = null;
  response[kEndCallbacks] = null;
}

/** The callbacks of `end`: null, or why the response did not leave. */
export function settleEnd(response: EngineResponse, isFlushed: boolean): void {
  const callbacks = response[kEndCallbacks];
  if (callbacks === null || callbacks === undefined) return;
  response[kEndCallbacks] = null;
  const error = isFlushed
    ? null
    : (response[kErrored] ?? lostError(response) ?? streamDestroyed('end'));
  for (const callback of callbacks) callback(error);
}

function expectCallback(response: EngineResponse, callback: Callback): void {
  (response[kWriteCallbacks] ??= []).push(bindCallback(response, callback));
}

/**
 * It is called in the context of who gave it, whatever calls it: a tick may serve many responses. What it throws is uncaught
 * right there, in its own domain, and stops none of them.
 */
export function bindCallback(response: EngineResponse, callback: Callback): Callback {
  const { native } = response[kConnection];
  return AsyncLocalStorage.bind((error) => {
    try {
      callback(error);
    } catch (thrown) {
      native.report(thrown);
    }
  });
}

function expectTick(response: EngineResponse): void {
  if (response[kTickBytes] === 0 && response[kWriteCallbacks] === null) {
    // Node corks until the tick is over, so that is when the bytes leave and room is made.
    response[kTickBytes] = 0;
    response[kConnection].afterTick(response);
  }
}

function isUtf8(encoding: string): boolean {
  return encoding === 'utf8' || encoding === 'utf-8';
}
