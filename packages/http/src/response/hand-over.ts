import type { Socket } from 'node:net';
import { nextTick } from '../node/clocks.ts';
import { WRITE_FLAGS } from '../native/index.ts';
import {
  joinsChunks,
  kChunkedBuffer,
  kChunkedLength,
  kCorked,
  kOutSocket,
  addFirstListener,
} from '../node/node-internals.ts';
import { defineOwn } from '../node/message-defaults.ts';
import type { BufferedWrites, EngineResponse } from '../exchange.ts';
import { runInContext } from '../request/request-context.ts';
import {
  kBuffered,
  kConnection,
  kDirect,
  kJoinedLength,
  kSequence,
} from '../node/message-state.ts';
import { factsOf } from './response-facts.ts';
import { lengthOf, roughLength, type Chunk } from './response-output.ts';
import { takeCallbacks, type Callback } from './write-callbacks.ts';

const { CHUNK, CLOSE, END } = WRITE_FLAGS;

/**
 * Hands the response over to Node: its own methods then write raw bytes to the connection's socket. Buffered bytes move to their
 * place in Node: the socket, corked until the end of the tick, or the response until its turn.
 */
export function handOver(response: EngineResponse): void {
  if (!response[kDirect] || response.finished) return;
  response[kDirect] = false;
  const connection = response[kConnection];
  const socket = connection.first === response ? connection.socket() : null;
  defineOwn(response, kOutSocket, socket);
  addFirstListener(response, 'finish', () => finishNode(response));
  if (socket === null) response._onPendingData = (length) => connection.countWaiting(length);
  const buffered = response[kBuffered];
  if (buffered === null) return;
  response[kBuffered] = null;
  if (socket === null) {
    connection.countWaiting(-roughLength(buffered));
  } else {
    connection.corkUntilTick(response);
    if (joinsChunks) response[kCorked] += 1;
  }
  if (response[kJoinedLength] > 0) {
    passJoined(response, buffered, takeCallbacks(response), socket!);
    return;
  }
  passOn(response, buffered, takeCallbacks(response), socket);
}

/** Frames chunks like Node's own `write`. */
function passOn(
  response: EngineResponse,
  buffered: BufferedWrites,
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
  const last = buffered.length - 3;
  for (let at = 0; at <= last; at += 3) {
    const data = buffered[at] as Chunk;
    const encoding = buffered[at + 1] as BufferEncoding | undefined;
    const done = at === last ? callback : undefined;
    if (buffered[at + 2] === CHUNK) {
      pass(`${lengthOf(data, encoding).toString(16)}\r\n`, 'latin1');
      pass(data, encoding);
      pass('\r\n', 'latin1', done);
    } else {
      pass(data, encoding, done);
    }
  }
}

/**
 * Moves them into the buffer of Node's own `write`: it joins them at the end of the tick, whatever the socket does until
 * then.
 */
function passJoined(
  response: EngineResponse,
  buffered: BufferedWrites,
  callback: Callback | undefined,
  socket: Socket,
): void {
  const last = buffered.length - 3;
  for (let at = 0; at <= last; at += 3) {
    const chunk = buffered[at] as Chunk;
    if (buffered[at + 2] !== CHUNK) {
      socket.write(chunk, buffered[at + 1] as BufferEncoding | undefined);
      continue;
    }
    const data =
      typeof chunk === 'string'
        ? chunk
        : Buffer.from(chunk.buffer as ArrayBuffer, chunk.byteOffset, chunk.byteLength);
    response[kChunkedBuffer].push(data, buffered[at + 1], (at === last && callback) || ignore);
  }
  response[kChunkedLength] = response[kJoinedLength];
  response[kJoinedLength] = 0;
}

function ignore(): void {}

/** Node's own methods have written all bytes to the socket, and the socket to the kernel: the next response may follow. */
export function finishNode(response: EngineResponse): void {
  const connection = response[kConnection];
  const flags = response._last ? END | CLOSE : END;
  connection.release(response);
  // Like Node's server: uncorks the socket of bytes corked after the end, and makes later corks of the response no-ops on
  // it.
  const socket = connection.socket();
  response.detachSocket(socket);
  // Node ends the socket behind a last response, which uncorks it.
  if (response._last) for (let corks = socket.writableCorked; corks > 0; corks--) socket.uncork();
  connection.native.write(response[kSequence], '', 'latin1', flags, factsOf(response));
  closeAfterTick(response);
  connection.finished(response);
}

/** Emits "close" in the next tick, in the context of the request. */
export function closeAfterTick(response: EngineResponse): void {
  runInContext(response.req, closeInTick, response);
}

function closeInTick(response: EngineResponse): void {
  nextTick(emitClose, response);
}

/** Emits "close" once. */
export function emitClose(response: EngineResponse): void {
  if (response._closed) return;
  response.destroyed = true;
  response._closed = true;
  response.emit('close');
}
