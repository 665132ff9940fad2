// A client that keeps what it received byte for byte. Every ask has a connection of its own.
import { connect, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Ask, RawAsk, RequestAsk, WebSocketAsk } from './zoo-app.ts';

/** What a client saw, in the order in which it came. */
export interface Exchange {
  name: string;
  /** Status line and headers of each response, informational ones included, then the trailers. */
  head: string[];
  /** Without chunk borders and content coding. */
  body: string;
  /** `kept`, `closed`, `reset`, or `silent` where nothing more came in time. */
  end: string;
}

export interface Endpoint {
  host: string;
  port: number;
}

const patienceMs = 10_000;
/** How long a connection that may be kept alive is watched for its end. */
const afterMs = 20;
const remembered = new Set(['etag', 'last-modified', 'location', 'set-cookie', 'mcp-session-id']);

/** One client of an app: it remembers validators and cookies. */
export class Client {
  readonly #endpoint: Endpoint;
  readonly #seen = new Map<string, string>();

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  async ask(ask: Ask): Promise<Exchange> {
    const link = new Link(this.#endpoint);
    try {
      if (ask.kind === 'websocket') return await openSocket(link, ask);
      const exchange =
        ask.kind === 'raw'
          ? await sendRaw(link, ask)
          : await request(link, ask, this.#endpoint.port, (text) => this.#fill(text));
      this.#remember(exchange.head);
      return exchange;
    } finally {
      link.destroy();
    }
  }

  #fill(text: string): string {
    return text.replaceAll(
      /\{([a-z-]+)\}/g,
      (whole, name: string) => this.#seen.get(name) ?? whole,
    );
  }

  #remember(lines: readonly string[]): void {
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      if (remembered.has(name)) {
        this.#seen.set(name, name === 'set-cookie' ? value.split(';')[0]! : value);
      }
    }
  }
}

/** A connection, and what came on it that nobody has read yet. */
class Link {
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #end: string | undefined;
  #wake: () => void = () => {};

  constructor({ host, port }: Endpoint) {
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on('data', (data) => {
      this.#bytes = Buffer.concat([this.#bytes, data]);
      this.#wake();
    });
    this.#socket.on('end', () => this.#ended('closed'));
    this.#socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#ended(error.code === 'ECONNRESET' ? 'reset' : (error.code ?? error.message)),
    );
    this.#socket.on('close', () => this.#ended('closed'));
  }

  write(data: string | Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(data, 'latin1');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** How the connection ended. */
  get end(): string | undefined {
    return this.#end;
  }

  get length(): number {
    return this.#bytes.length;
  }

  peek(): Buffer {
    return this.#bytes;
  }

  take(count: number): Buffer {
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }

  /** Resolves once the predicate holds, the connection ended, or nothing came for too long: then false. */
  async until(holds: () => boolean, ms: number = patienceMs): Promise<boolean> {
    const deadline = Date.now() + ms;
    while (!holds()) {
      if (this.#end !== undefined) return false;
      const left = deadline - Date.now();
      if (left <= 0) return false;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, left);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    return true;
  }

  #ended(how: string): void {
    this.#end ??= how;
    this.#wake();
  }
}

interface Head {
  lines: string[];
  status: number;
  header: (name: string) => string | undefined;
}

async function readHead(link: Link): Promise<Head | undefined> {
  if (!(await link.until(() => link.peek().includes('\r\n\r\n')))) return undefined;
  const text = link.take(link.peek().indexOf('\r\n\r\n') + 4).toString('latin1');
  const lines = text.slice(0, -4).split('\r\n');
  const header = (name: string): string | undefined =>
    lines
      .slice(1)
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  return { lines, status: Number(lines[0]!.split(' ')[1]), header };
}

/** Reads one final response with the informational ones before it. */
async function readResponse(
  link: Link,
  method: string,
  eventCount?: number,
): Promise<{ head: string[]; body: string }> {
  const all: string[] = [];
  for (;;) {
    const head = await readHead(link);
    if (head === undefined) return { head: all, body: link.take(link.length).toString('latin1') };
    all.push(...head.lines);
    const { status, header } = head;
    if (status >= 100 && status < 200 && status !== 101) continue;
    const isBare = method === 'HEAD' || status === 204 || status === 304 || status === 101;
    if (isBare || (method === 'CONNECT' && status < 300)) return { head: all, body: '' };
    const isChunked = /chunked/i.test(header('transfer-encoding') ?? '');
    const length = header('content-length');
    let bytes: Buffer;
    if (isChunked) {
      const read = await readChunks(link, eventCount);
      bytes = read.bytes;
      all.push(...read.trailers);
    } else if (length !== undefined) {
      await link.until(() => link.length >= Number(length));
      bytes = link.take(Number(length));
    } else {
      const isDone = (): boolean =>
        eventCount !== undefined && countEvents(link.peek()) >= eventCount;
      await link.until(isDone);
      bytes = link.take(link.length);
    }
    const body = decode(bytes, header('content-encoding'));
    return { head: all, body: eventCount === undefined ? body : firstEvents(body, eventCount) };
  }
}

async function readChunks(
  link: Link,
  eventCount?: number,
): Promise<{ bytes: Buffer; trailers: string[] }> {
  const parts: Buffer[] = [];
  const whole = (): Buffer => Buffer.concat(parts);
  for (;;) {
    if (eventCount !== undefined && countEvents(whole()) >= eventCount) break;
    if (!(await link.until(() => link.peek().includes('\r\n')))) break;
    const line = link.take(link.peek().indexOf('\r\n') + 2).toString('latin1');
    const size = Number.parseInt(line, 16);
    if (size === 0) {
      await link.until(() => link.peek().includes('\r\n'));
      const isShort = link.peek().subarray(0, 2).toString() === '\r\n';
      if (!isShort) await link.until(() => link.peek().includes('\r\n\r\n'));
      const end = isShort ? 2 : link.peek().indexOf('\r\n\r\n') + 4;
      const trailers = link.take(end).toString('latin1').trim();
      return { bytes: whole(), trailers: trailers === '' ? [] : trailers.split('\r\n') };
    }
    if (!(await link.until(() => link.length >= size + 2))) break;
    parts.push(Buffer.from(link.take(size)));
    link.take(2);
  }
  return { bytes: whole(), trailers: [] };
}

function countEvents(bytes: Buffer): number {
  return bytes.toString('latin1').split(/\r?\n\r?\n/).length - 1;
}

function firstEvents(text: string, count: number): string {
  return text
    .split(/\r?\n\r?\n/)
    .slice(0, count)
    .join('\n\n');
}

function decode(bytes: Buffer, coding: string | undefined): string {
  try {
    if (coding === 'gzip') return gunzipSync(bytes).toString('latin1');
    if (coding === 'br') return brotliDecompressSync(bytes).toString('latin1');
    if (coding === 'deflate') return inflateSync(bytes).toString('latin1');
  } catch {
    // The bytes themselves are compared.
  }
  return bytes.toString('latin1');
}

async function request(
  link: Link,
  ask: RequestAsk,
  port: number,
  fill: (text: string) => string,
): Promise<Exchange> {
  const { method, path, headers, body, chunkBytes, events } = ask;
  const lines = [`${method} ${fill(path)} HTTP/1.1`];
  if (!headers.some(([name]) => name === 'host')) lines.push(`host: localhost:${port}`);
  for (const [name, value] of headers) lines.push(`${name}: ${fill(value)}`);
  const bytes = Buffer.from(typeof body === 'string' ? fill(body) : (body ?? ''));
  if (chunkBytes !== undefined) lines.push('transfer-encoding: chunked');
  else if (body !== undefined) lines.push(`content-length: ${bytes.length}`);
  link.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (headers.some(([name]) => name === 'expect')) {
    await link.until(() => link.length > 0);
  }
  if (chunkBytes === undefined) {
    if (bytes.length > 0) link.write(bytes);
  } else {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const part = bytes.subarray(at, at + chunkBytes);
      link.write(`${part.length.toString(16)}\r\n${part.toString('latin1')}\r\n`);
    }
    link.write('0\r\n\r\n');
  }
  const response = await readResponse(link, method, events);
  const named = headers.map(([name, value]) => ` ${name}: ${value.slice(0, 40)}`).join(',');
  return { name: `${method} ${path}${named}`, ...response, end: await endOf(link, response.head) };
}

async function endOf(link: Link, head: readonly string[]): Promise<string> {
  const closes = head.some((line) => /^connection: *close/i.test(line));
  await link.until(() => link.end !== undefined, closes ? patienceMs : afterMs);
  return link.end ?? (head.length === 0 ? 'silent' : 'kept');
}

async function sendRaw(
  link: Link,
  { name, bytes, responses, afterwards }: RawAsk,
): Promise<Exchange> {
  link.write(bytes);
  const head: string[] = [];
  let body = '';
  const method = bytes.slice(0, bytes.indexOf(' '));
  for (let count = 0; count < responses; count++) {
    const response = await readResponse(link, count === 0 ? method : 'GET');
    head.push(...response.head);
    body += response.body;
    if (count === 0 && afterwards !== undefined) link.write(afterwards);
    if (link.end !== undefined && response.head.length === 0) break;
  }
  return { name, head, body, end: await endOf(link, head) };
}

async function openSocket(link: Link, ask: WebSocketAsk): Promise<Exchange> {
  const name = `WebSocket ${ask.path}`;
  const lines = [
    `GET ${ask.path} HTTP/1.1`,
    'host: localhost',
    'upgrade: websocket',
    'connection: Upgrade',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ...ask.headers.map(([key, value]) => `${key}: ${value}`),
  ];
  link.write(`${lines.join('\r\n')}\r\n\r\n`);
  const { head, body: refusal } = await readResponse(link, 'GET');
  if (!/ 101 /.test(head[0] ?? ''))
    return { name, head, body: refusal, end: await endOf(link, head) };
  const messages: string[] = [];
  for (const message of ask.send) {
    if (ask.takesTurns) messages.push((await readFrame(link)) ?? 'nothing');
    link.write(frame(message));
  }
  while (messages.length < ask.receive) {
    const message = await readFrame(link);
    if (message === undefined) break;
    messages.push(message);
  }
  link.write(frame(Buffer.from([0x03, 0xe8]), 8));
  for (;;) {
    const message = await readFrame(link);
    if (message === undefined) break;
    messages.push(message);
    if (message.startsWith('8 ')) break;
  }
  await link.until(() => link.end !== undefined, 1_000);
  return { name, head, body: messages.join('\n'), end: link.end ?? 'kept' };
}

function frame(payload: string | Buffer, opcode = typeof payload === 'string' ? 1 : 2): Buffer {
  const bytes = Buffer.from(payload);
  const mask = Buffer.from([1, 2, 3, 4]);
  const masked = Buffer.from(bytes.map((byte, at) => byte ^ mask[at % 4]!));
  const size =
    bytes.length < 126
      ? Buffer.from([0x80 | bytes.length])
      : Buffer.from([0x80 | 126, bytes.length >> 8, bytes.length & 255]);
  return Buffer.concat([Buffer.from([0x80 | opcode]), size, mask, masked]);
}

/** `opcode payload` of the next frame. */
async function readFrame(link: Link): Promise<string | undefined> {
  if (!(await link.until(() => link.length >= 2))) return undefined;
  const short = link.peek()[1]! & 127;
  const wide = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (!(await link.until(() => link.length >= 2 + wide))) return undefined;
  const size =
    wide === 2
      ? link.peek().readUInt16BE(2)
      : wide === 8
        ? Number(link.peek().readBigUInt64BE(2))
        : short;
  if (!(await link.until(() => link.length >= 2 + wide + size))) return undefined;
  const opcode = link.peek()[0]! & 15;
  link.take(2 + wide);
  return `${opcode} ${link.take(size).toString('latin1')}`;
}
