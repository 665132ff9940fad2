// What the clients of the matrix send, and how the handlers respond, by the path of the request.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import net from 'node:net';
import { Readable } from 'node:stream';

const late: ServerResponse[] = [];

/** Large enough for the kernel to leave a part of it. */
const LARGE = Buffer.alloc(8 << 20, 'a');

const handlers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/end': (_, response) => response.end('body'),
  '/callback': (_, response) => response.end('body', 'latin1', () => {}),
  '/later': (_, response) => setImmediate(() => response.end()),
  '/head': (_, response) => {
    response.writeHead(201, { 'X-A': 'a' });
    response.end('body');
  },
  '/write': (_, response) => {
    response.setHeader('x-a', 'a');
    response.write('one');
    response.write(Buffer.from('two'), () => {});
    response.end('three');
  },
  '/flush': (_, response) => {
    response.flushHeaders();
    setImmediate(() => response.end('body'));
  },
  '/body': (request, response) => {
    request.on('data', () => {});
    request.on('end', () => response.end('read'));
  },
  '/resume': (request, response) => {
    request.resume();
    response.end('resumed');
  },
  '/pipe': (_, response) => {
    Readable.from([Buffer.from('one'), Buffer.from('two')]).pipe(response);
  },
  '/large': (_, response) => {
    response.write(LARGE);
    response.once('drain', () => response.end());
  },
  '/listeners': (request, response) => {
    request.on('close', () => {});
    response.on('finish', () => {});
    response.on('close', () => {});
    response.end('body');
  },
  '/first': (_, response) => {
    late.push(response);
  },
  '/second': (_, response) => {
    response.end('second');
    setImmediate(() => late.shift()?.end('first'));
  },
  '/never': (request) => {
    request.socket.once('close', () => {});
  },
  '/informed': (_, response) => {
    response.writeProcessing();
    response.end('body');
  },
  '/headers': (request, response) => {
    response.end(`${request.headers.host} ${request.headersDistinct['x-twice']?.length}`);
  },
};

export const respond: RequestListener = (request, response) => {
  handlers[request.url!.split('?', 1)[0]!]!(request, response);
};

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const post = (path: string, body = 'body'): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const close = 'Connection: close\r\n';

/** By their names: the bytes of a client. It leaves after the response to the last, or when it has sent all (`leaves`). */
export const clients: Record<string, { sends: string[]; leaves?: true }> = {
  'one request': { sends: [get('/end', close)] },
  'kept connection': { sends: [get('/end'), get('/callback'), get('/later', close)] },
  'head and pieces': { sends: [get('/head'), get('/write'), get('/flush', close)] },
  HEAD: { sends: [`HEAD /end HTTP/1.1\r\nHost: a\r\n${close}\r\n`] },
  'a body that is read': { sends: [post('/body'), get('/end', close)] },
  'a body that is not': { sends: [post('/end'), get('/end', close)] },
  'a body that is dropped': { sends: [post('/resume'), get('/end', close)] },
  'chunks and trailers': {
    sends: [
      'POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: x-t\r\n\r\n4\r\nbody\r\n0\r\nx-t: 1\r\n\r\n',
      get('/end', close),
    ],
  },
  'a pipe': { sends: [get('/pipe', close)] },
  'more than the kernel takes': { sends: [get('/large', close)] },
  listeners: { sends: [get('/listeners', close)] },
  pipeline: { sends: [get('/first') + get('/second') + get('/end', close)] },
  'a pipeline of ends': { sends: [get('/later') + get('/write') + get('/end', close)] },
  '100-continue': {
    sends: [
      'POST /body HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody',
      get('/end', close),
    ],
  },
  'other expectation': { sends: [get('/end', `Expect: tea\r\n${close}`)] },
  'no Host': { sends: ['GET /end HTTP/1.1\r\n\r\n'] },
  '1xx': { sends: [get('/informed', close)] },
  'headers that are looked at': {
    sends: [get('/headers', `X-Twice: a\r\nX-Twice: b\r\n${close}`)],
  },
  'HTTP/1.0': { sends: ['GET /end HTTP/1.0\r\n\r\n'] },
  upgrade: { sends: [get('/up', 'Connection: upgrade\r\nUpgrade: a\r\n')] },
  CONNECT: { sends: ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'] },
  nonsense: { sends: ['nonsense\r\n\r\n'] },
  'a client that leaves': { sends: [get('/never')], leaves: true },
};

/** Sends one request after the response to the last, and resolves when the connection is over. */
export function talk(
  port: number,
  { sends, leaves }: { sends: string[]; leaves?: true },
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = net.connect(port, '127.0.0.1');
  const left = [...sends];
  let seen = '';
  const next = (): void => {
    const bytes = left.shift();
    if (bytes !== undefined) socket.write(bytes, 'latin1');
    if (left.length === 0 && leaves) setTimeout(() => socket.destroy(), 20);
  };
  socket.on('connect', next);
  socket.on('data', (bytes) => {
    seen += bytes.toString('latin1');
    // Every response of a connection that goes on ends in one of these.
    if (left.length > 0 && /(?:body|read|resumed|\r\n0\r\n\r\n|Length: 0\r\n\r\n)$/.test(seen))
      next();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    const shown = seen.length > 10_000 ? `${seen.slice(0, 200)} ${seen.length}` : seen;
    resolve(shown.replaceAll(/Date: [^\r]*/g, 'Date'));
  });
  return promise;
}

/** What a server does besides requests. */
export function prepare(server: Server): void {
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
  server.on('connect', (_, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
}
