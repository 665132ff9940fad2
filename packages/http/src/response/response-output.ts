import { WRITE_FLAGS } from '../native/index.ts';
import { joinsChunks, kCorked, kNeedDrain } from '../node/node-internals.ts';
import type { BufferedWrites, EngineResponse } from '../exchange.ts';
import {
  kConnection,
  kBuffered,
  kIsAscii,
  kJoinedLength,
  kSequence,
  kTickBytes,
  kWriteCallbacks,
} from '../node/message-state.ts';
import { factsOf } from './response-facts.ts';
import { expectCallback, type Callback } from './write-callbacks.ts';

const { CHUNK, CLOSE, END, TRAILERS } = WRITE_FLAGS;

export type Chunk = string | Uint8Array;

export function isChunk(chunk: unknown): chunk is Chunk {
  return typeof chunk === 'string' || chunk instanceof Uint8Array;
}

export function lengthOf(chunk: Chunk, encoding: BufferEncoding | undefined): number {
  return typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
}

/** Returns true for cases that only Node's own methods handle: corked, counted, bytes waiting in the socket, or ended. */
export function isUnusual(response: EngineResponse): boolean {
  const connection = response[kConnection];
  return (
    response[kCorked] > 0 ||
    response.strictContentLength ||
    connection.holdsBytes() ||
    !connection.isWritable()
  );
}

/** Sends the head in the encoding of the text that follows it, like Node. */
export function sendHead(response: EngineResponse, encoding: BufferEncoding = 'latin1'): void {
  response._headerSent = true;
  writeOrBuffer(response, response._header!, headEncoding(response, encoding), 0);
}

/** Sends the head before any body. In Node it waits with the chunks of this tick, if any, and precedes them. */
export function flushHead(response: EngineResponse): void {
  const buffered = response[kBuffered];
  if (buffered === null || response[kJoinedLength] === 0) {
    sendHead(response, 'utf8');
    return;
  }
  response._headerSent = true;
  buffered.unshift(response._header!, headEncoding(response, 'utf8'), 0);
}

/**
 * Passes bytes to the engine. Before the response's turn they are buffered: the socket may be written to, ended or destroyed
 * until then, and as in Node, that comes first.
 */
function writeOrBuffer(
  response: EngineResponse,
  data: Chunk,
  encoding: BufferEncoding | undefined,
  flags: number,
): void {
  const connection = response[kConnection];
  if (connection.first === response) {
    const facts = (flags & END) === 0 ? 0 : factsOf(response);
    connection.native.write(response[kSequence], data, encoding, flags, facts);
    return;
  }
  (response[kBuffered] ??= []).push(data, encoding, flags);
  connection.countWaiting(data.length);
}

/** Passes the engine the output of this tick, or the output written before the response's turn. */
export function flushBuffered(response: EngineResponse): void {
  const buffered = response[kBuffered];
  const { first, native } = response[kConnection];
  if (buffered === null || first !== response) return;
  response[kBuffered] = null;
  if (response[kJoinedLength] > 0) {
    sendJoined(response, buffered);
    return;
  }
  for (let at = 0; at < buffered.length; at += 3) {
    const flags = buffered[at + 2] as number;
    native.write(
      response[kSequence],
      buffered[at] as Chunk,
      buffered[at + 1] as BufferEncoding | undefined,
      flags,
      (flags & END) === 0 ? 0 : factsOf(response),
    );
  }
}

/** Sends the chunks of a tick as one, after the head. */
function sendJoined(response: EngineResponse, buffered: BufferedWrites): void {
  const { native } = response[kConnection];
  const sequence = response[kSequence];
  let at = 0;
  // An empty first write has queued the head.
  for (; buffered[at + 2] !== CHUNK; at += 3) {
    native.write(
      sequence,
      buffered[at] as Chunk,
      buffered[at + 1] as BufferEncoding | undefined,
      0,
    );
  }
  if (!response._headerSent) sendHead(response);
  const length = response[kJoinedLength];
  response[kJoinedLength] = 0;
  if (buffered.length === at + 3) {
    native.write(
      sequence,
      buffered[at] as Chunk,
      buffered[at + 1] as BufferEncoding | undefined,
      CHUNK,
    );
    return;
  }
  native.write(sequence, `${length.toString(16)}\r\n`, 'latin1', 0);
  for (; at < buffered.length; at += 3) {
    native.write(
      sequence,
      buffered[at] as Chunk,
      buffered[at + 1] as BufferEncoding | undefined,
      0,
    );
  }
  native.write(sequence, '\r\n', 'latin1', 0);
}

/** Counts output that waits for its turn like Node: one byte per character. */
export function roughLength(buffered: BufferedWrites | null): number {
  if (buffered === null) return 0;
  let length = 0;
  for (let at = 0; at < buffered.length; at += 3) length += (buffered[at] as Chunk).length;
  return length;
}

/** Returns the bytes of this tick that the engine does not have yet, including chunk framing. */
export function bufferedLength(response: EngineResponse): number {
  const buffered = response[kBuffered];
  let length = 0;
  if (buffered === null || buffered === undefined) return length;
  const hasJoined = response[kJoinedLength] > 0;
  for (let at = 0; at < buffered.length; at += 3) {
    const isFramed = buffered[at + 2] === CHUNK;
    // Joined chunks count as the response's own until they are sent.
    if (isFramed && hasJoined) break;
    const chunk = buffered[at] as Chunk;
    // Sockets count characters.
    length += chunk.length;
    // Size and CRLF before the chunk, CRLF after it.
    if (isFramed)
      length += 4 + lengthOf(chunk, buffered[at + 1] as BufferEncoding).toString(16).length;
  }
  return length;
}

function headEncoding(response: EngineResponse, followed: BufferEncoding): BufferEncoding {
  return response[kIsAscii] || !isUtf8(followed) ? 'latin1' : 'utf8';
}

/** Implements `write` inside a response. Returns true if more may be written, by Node's count. */
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
  const buffered = (response[kBuffered] ??= []);
  const isFirst = connection.first === response;
  if (isJoined(response, chunk) && isFirst) {
    return bufferJoined(response, buffered, chunk, encoding, callback);
  }
  let addedLength = 0;
  if (!response._headerSent) {
    response._headerSent = true;
    addedLength = response._header!.length;
    const isText = typeof chunk === 'string' && !response.chunkedEncoding;
    buffered.push(
      response._header!,
      headEncoding(response, isText ? (encoding ?? 'utf8') : 'latin1'),
      0,
    );
  }
  if (typeof callback === 'function') expectCallback(response, callback);
  // An empty chunk would end the response.
  if (chunk.length > 0) {
    buffered.push(chunk, encoding ?? undefined, response.chunkedEncoding ? CHUNK : 0);
    response[kTickBytes] += lengthOf(chunk, encoding);
    addedLength += chunk.length;
  }
  if (!isFirst) connection.countWaiting(addedLength);
  const unsent = isFirst ? native.pending : 0;
  const isWelcome = response[kTickBytes] + unsent < connection.server.highWaterMark;
  if (!isWelcome) response[kNeedDrain] = true;
  return isWelcome;
}

/** Returns true if Node joins the chunk with others of its tick. An empty chunk joins others; alone it is not sent. */
function isJoined(response: EngineResponse, chunk: Chunk): boolean {
  return (
    joinsChunks && response.chunkedEncoding && (chunk.length > 0 || response[kJoinedLength] > 0)
  );
}

/** Buffers a chunk that Node joins with the others of its tick. The head waits with the first. */
function bufferJoined(
  response: EngineResponse,
  buffered: BufferedWrites,
  chunk: Chunk,
  encoding: BufferEncoding | undefined,
  callback: Callback | undefined,
): boolean {
  if (typeof callback === 'function') expectCallback(response, callback);
  if (chunk.length > 0) buffered.push(chunk, encoding ?? undefined, CHUNK);
  const bytes = lengthOf(chunk, encoding);
  response[kTickBytes] += bytes;
  response[kJoinedLength] += bytes;
  const isWelcome = joinedLength(response) < response[kConnection].server.highWaterMark;
  if (!isWelcome) response[kNeedDrain] = true;
  return isWelcome;
}

/** Returns an approximate `writableLength`: the exact one would need the socket, and make the engine flush for each chunk. */
function joinedLength(response: EngineResponse): number {
  const joined = response[kJoinedLength];
  const hexDigits = (35 - Math.clz32(joined)) >> 2;
  const head = response._headerSent ? 0 : response._header!.length;
  // One CRLF after the size, one after the chunk.
  const framed = joined + hexDigits + 4 + head;
  return framed + bufferedLength(response) + response[kConnection].native.pending;
}

/** Writes bytes outside the body: 1xx responses. */
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
    const buffered = response[kBuffered];
    if (buffered === null) {
      writeOrBuffer(response, data, encoding, 0);
    } else {
      buffered.push(data, encoding, 0);
      if (first !== response) connection.countWaiting(data.length);
    }
  }
  const unsent = first === response ? native.pending : bufferedLength(response);
  return unsent < server.highWaterMark;
}

/** Ends the response, with its head and body if they have not been sent yet. */
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
    bufferJoined(response, response[kBuffered]!, body, encoding, undefined);
    body = undefined;
  }
  flushBuffered(response);
  if (typeof body === 'string' && encoding && !isUtf8(encoding)) body = Buffer.from(body, encoding);
  const isChunked = response.chunkedEncoding && response._hasBody;

  if (!response._headerSent) {
    const isWhole = !isChunked && (response[kIsAscii] || typeof body !== 'string');
    if (isWhole && first === response) {
      response._headerSent = true;
      native.answer(response[kSequence], response._header!, body, flags, factsOf(response));
      return;
    }
    sendHead(response, isChunked ? undefined : (encoding ?? 'utf8'));
  }
  if (!isChunked) {
    writeOrBuffer(response, body ?? '', 'utf8', flags);
  } else if (response._trailer === '') {
    writeOrBuffer(response, body ?? '', 'utf8', CHUNK | flags);
  } else {
    if (body) writeOrBuffer(response, body, 'utf8', CHUNK);
    writeOrBuffer(response, response._trailer, 'latin1', TRAILERS | flags);
  }
}

function expectTick(response: EngineResponse): void {
  if (response[kTickBytes] === 0 && response[kWriteCallbacks] === null) {
    // Node corks until the end of the tick: the bytes are sent then, which makes room.
    response[kTickBytes] = 0;
    response[kConnection].afterTick(response);
  }
}

function isUtf8(encoding: string): boolean {
  return encoding === 'utf8' || encoding === 'utf-8';
}
