import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, maskDate } from './wire.ts';

export interface Manner {
  /** Stops after so many bytes … */
  every?: number;
  /** … for so long. */
  ms?: number;
  /** Ends its own side when the response has begun. */
  endsItsSide?: boolean;
}

export interface Received {
  head: string;
  length: number;
  /** Of the body and its trailers. Where a chunk ends is Node's own matter: since 26 it joins those of a tick. */
  digest: string;
}

/** A client that reads with pauses until the server closes. */
export async function take(
  port: number,
  bytes: string | Buffer,
  manner: Manner = {},
): Promise<Received> {
  const { every = Infinity, ms = 1, endsItsSide = false } = manner;
  const socket = connect(port);
  const parts: Buffer[] = [];
  let head = '';
  let since = 0;
  const behindHead = (chunk: Buffer): Buffer => {
    if (head.includes('\r\n\r\n')) return chunk;
    const before = head.length;
    head += chunk.toString('latin1');
    const end = head.indexOf('\r\n\r\n') + 4;
    if (end < 4) return chunk.subarray(chunk.length);
    head = head.slice(0, end);
    if (endsItsSide) socket.end();
    return chunk.subarray(end - before);
  };
  socket.on('data', (chunk: Buffer) => {
    parts.push(behindHead(chunk));
    since += chunk.length;
    if (since < every) return;
    since = 0;
    socket.pause();
    setTimeout(() => socket.resume(), ms);
  });
  socket.write(bytes);
  await untilOver(socket);
  const isChunked = head.includes('Transfer-Encoding: chunked');
  const sent = Buffer.concat(parts);
  const body = isChunked ? withoutFrames(sent) : sent;
  const digest = createHash('sha1').update(body).digest('hex');
  return { head: maskDate(head), length: body.length, digest };
}

/** What chunks hold, and what follows the last of them. */
function withoutFrames(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const start = bytes.indexOf('\r\n', at) + 2;
    const size = Number.parseInt(bytes.toString('latin1', at, start), 16);
    // The last chunk, or the end of what was cut off.
    if (!(size > 0)) return Buffer.concat([...parts, bytes.subarray(at)]);
    parts.push(bytes.subarray(start, start + size));
    at = start + size + '\r\n'.length;
  }
}

/** Whether it is an end or a reset. */
export async function untilOver(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => socket.once('end', resolve).once('error', () => resolve()));
  socket.destroy();
}
