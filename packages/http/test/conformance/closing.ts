import type { ServerResponse } from 'node:http';
import {
  gate,
  moment,
  serve,
  textOf,
  trace,
  type Behaviours,
  type HttpModule,
  type Listener,
} from './engine.ts';
import type { Step } from './wire.ts';

const get = (url: string, ...lines: string[]) =>
  [`GET ${url} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');
const many = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: y`);
const later = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

/** Two requests at once: what the first is answered with, and what each message hears. */
async function two(http: HttpModule, first: (response: ServerResponse) => unknown) {
  const log: string[] = [];
  const over = gate();
  await using serving = await serve(http, {}, (request, response) => {
    trace(request, `request ${request.url}`, ['aborted'], log);
    trace(response, `response ${request.url}`, ['finish', 'close'], log);
    request.on('error', () => {});
    request.socket.once('close', () => over.open());
    if (request.url === '/first') void first(response);
    else response.end('of the second');
  });
  const conversation = await serving.talk(get('/first') + get('/second'));
  await over.opened;
  await moment();
  return { conversation, log };
}

/** A server that notes what its handlers and its "clientError" hear. */
async function heard(
  http: HttpModule,
  onClientError: ((socket: NodeJS.WritableStream) => void) | undefined,
  steps: Step[],
  most: number | null = null,
) {
  const log: string[] = [];
  const listener: Listener = async (request, response) => {
    log.push(`${request.method} ${request.url}`);
    if (request.url === '/slow') await later();
    const body = await textOf(request).catch(() => 'cut off');
    response.end(`${request.url} ${body}`);
  };
  await using serving = await serve(http, {}, listener, (server) => {
    server.maxHeadersCount = most;
    if (onClientError === undefined) return;
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      // Node says it again with every further packet.
      if (log.at(-1) !== error.code!) log.push(error.code!);
      onClientError(socket);
    });
  });
  return { conversation: await serving.talk(...steps), log };
}

const refuse = (socket: NodeJS.WritableStream) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
const note = () => {};

export const closing: Behaviours = {
  'nothing follows a stream that says Connection: close': (http) =>
    two(http, async (response) => {
      response.writeHead(200, { Connection: 'close' });
      await later();
      response.write('part 1;');
      response.end('part 2');
    }),
  'nothing follows a body that ends with the connection': (http) =>
    two(http, async (response) => {
      response.setHeader('Connection', 'close');
      response.removeHeader('Transfer-Encoding');
      await later();
      response.write('part 1;');
      response.end('part 2');
    }),
  'nothing follows a late response of known length that closes': (http) =>
    two(http, async (response) => {
      await later();
      response.writeHead(500, { Connection: 'close', 'Content-Length': 3 });
      response.end('err');
    }),
  'nothing follows a response whose connection is not kept': (http) =>
    two(http, async (response) => {
      response.shouldKeepAlive = false;
      await later();
      response.end('last');
    }),
  'nothing follows a corked response that closes': (http) =>
    two(http, async (response) => {
      response.setHeader('Connection', 'close');
      await later();
      response.cork();
      response.write('part 1;');
      response.end('part 2');
      response.uncork();
    }),
  'too many headers: nothing behind them is handled': (http) =>
    heard(http, refuse, [
      `${get('/bad', ...many(1_001))}${get('/next')}DELETE /evil HTTP/1.1\r\nHost: a\r\n\r\n`,
    ]),
  'too many headers, and nobody listens': (http) =>
    heard(http, undefined, [get('/bad', ...many(1_001)) + get('/next')]),
  'more headers than maxHeadersCount': (http) =>
    heard(http, refuse, [get('/bad', ...many(6)) + get('/next')], 5),
  'as many headers as maxHeadersCount': (http) =>
    heard(http, refuse, [get('/good', 'Connection: close', ...many(3))], 5),
  'a refused body is not that of the request before': (http) =>
    heard(http, note, [
      get('/slow') +
        ['POST /bad HTTP/1.1', 'Host: a', ...many(1_001), 'Content-Length: 10', '', ''].join(
          '\r\n',
        ),
      later,
      'HELLO',
      /\/slow /,
      'WORLD',
      get('/next'),
      'FIN',
    ]),
  'more trailers than a thousand': async (http) => {
    const head =
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n';
    const block = (count: number) => `${many(count).join('\r\n')}\r\n\r\n`;
    const handled = await heard(http, undefined, [
      head + block(1_000) + get('/next', 'Connection: close'),
    ]);
    const refused = await heard(http, undefined, [head + block(1_001)]);
    return { handled, refused };
  },
  'nothing follows an upgrade that nobody takes and that says Connection: close': async (http) => {
    const up = (...lines: string[]) => get('/up', ...lines, 'Upgrade: x');
    const body = ['Connection: close', 'Connection: Upgrade', 'Content-Length: 2', 'Upgrade: x'];
    return {
      one: await heard(http, undefined, [up('Connection: close, Upgrade') + get('/next')]),
      two: await heard(http, undefined, [
        up('Connection: Upgrade', 'Connection: close') + get('/next'),
      ]),
      body: await heard(http, undefined, [
        `${get('/up', ...body).replace('GET', 'POST')}ab${get('/next')}`,
      ]),
      old: await heard(http, undefined, [
        up('Connection: Upgrade').replace('1.1', '1.0') + get('/next'),
      ]),
      slow: await heard(http, undefined, [
        up('Connection: close, Upgrade').replace('/up', '/slow') + get('/next'),
      ]),
    };
  },
};
