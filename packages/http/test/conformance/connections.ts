import { once } from 'node:events';
import {
  ask,
  serve,
  textOf,
  withLimit,
  type Behaviours,
  type Listener,
  type Options,
} from './engine.ts';
import { connect, leave, Line, maskKeepAlive } from './wire.ts';

const hello: Listener = (_, response) => {
  response.end('hello');
};
const path: Listener = (request, response) => {
  response.end(`${request.method} ${request.url}`);
};
const get = (url: string, ...lines: string[]) =>
  [`GET ${url} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');

export const connections: Behaviours = {
  'one request on a connection that is kept': (http) =>
    ask(http, hello, [get('/'), /hello/, leave]),
  'several requests, one after the other': (http) =>
    ask(http, path, [get('/1'), /GET \/1$/, get('/2'), /GET \/2$/, get('/3', 'Connection: close')]),
  'requests sent at once are answered in order': (http) =>
    ask(http, path, [get('/1') + get('/2') + get('/3', 'Connection: close')]),
  'pipelined answers wait for their turn': (http) =>
    ask(
      http,
      (request, response) => {
        const answer = () => response.end(request.url);
        // The first is ready last.
        if (request.url === '/1') setTimeout(answer, 40);
        else if (request.url === '/2') setTimeout(answer, 20);
        else answer();
      },
      [get('/1') + get('/2') + get('/3', 'Connection: close')],
    ),
  'a thousand pipelined requests': async (http) => {
    const count = 1_000;
    const requests = Array.from({ length: count }, (_, i) =>
      get(`/${i}`, ...(i === count - 1 ? ['Connection: close'] : [])),
    );
    const { received, end } = await ask(http, path, [requests.join('')]);
    return { end, urls: received.match(/GET \/\d+/g) };
  },
  'pipelined bodies are not mixed up': (http) =>
    ask(
      http,
      async (request, response) => {
        response.end(`${request.url}=${await textOf(request)};`);
      },
      [
        'POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none' +
          'POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n' +
          'POST /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nthree',
      ],
    ),
  'a body nobody reads does not hold up the next request': (http) =>
    ask(http, path, [
      `POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
      get('/2', 'Connection: close'),
    ]),
  'a request in single bytes': (http) =>
    ask(
      http,
      path,
      [...get('/bytes', 'Connection: close')].flatMap((byte) => [byte, tick]),
    ),
  'a request cut anywhere': async (http) => {
    await using serving = await serve(http, {}, async (request, response) => {
      response.end(JSON.stringify([request.rawHeaders, await textOf(request)]));
    });
    const text =
      'POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nt: 1\r\n\r\n';
    const answers = new Set<string>();
    for (let at = 1; at < text.length; at++) {
      const { received, end } = await serving.talk(text.slice(0, at), tick, text.slice(at));
      answers.add(`${end} ${received}`);
    }
    return [...answers];
  },
  'Connection: close': (http) => ask(http, hello, [get('/', 'Connection: close')]),
  'Connection: CLOSE, in a list': (http) => ask(http, hello, [get('/', 'Connection: foo, CLOSE')]),
  'Connection: keep-alive, in HTTP/1.1': (http) =>
    ask(http, hello, [get('/', 'Connection: keep-alive'), /hello/, leave]),
  'Connection: something else': (http) =>
    ask(http, hello, [get('/', 'Connection: x-thing'), /hello/, leave]),
  'HTTP/1.0 closes': (http) => ask(http, hello, ['GET / HTTP/1.0\r\n\r\n']),
  'HTTP/1.0 with keep-alive': (http) =>
    ask(http, hello, ['GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', /hello/, leave]),
  'HTTP/1.0 with keep-alive and a known length': (http) =>
    ask(
      http,
      (_, response) => {
        response.setHeader('Content-Length', 5);
        response.write('he');
        response.end('llo');
      },
      ['GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', /hello/, leave],
    ),
  'HTTP/1.0 with a body of unknown length': (http) =>
    ask(
      http,
      (_, response) => {
        response.write('a');
        response.end('b');
      },
      ['GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
    ),
  'HTTP/1.0, what the request says of itself': (http) =>
    ask(
      http,
      (request, response) => {
        const { httpVersion, httpVersionMajor, httpVersionMinor } = request;
        response.end(
          JSON.stringify([
            httpVersion,
            httpVersionMajor,
            httpVersionMinor,
            response.shouldKeepAlive,
            response.useChunkedEncodingByDefault,
          ]),
        );
      },
      ['GET / HTTP/1.0\r\n\r\n'],
    ),
  'the server may refuse to keep the connection': (http) =>
    ask(
      http,
      (_, response) => {
        response.shouldKeepAlive = false;
        response.end('x');
      },
      [get('/')],
    ),
  'a response that says Connection: close': (http) =>
    ask(
      http,
      (_, response) => {
        response.setHeader('Connection', 'close');
        response.end('x');
      },
      [get('/1') + get('/2')],
    ),
  'a response that says Connection: keep-alive': (http) =>
    ask(
      http,
      (_, response) => {
        response.setHeader('Connection', 'keep-alive');
        response.end('x');
      },
      [get('/', 'Connection: close'), /x$/, leave],
    ),
  'no keep-alive header without a keep-alive timeout': (http) =>
    ask(http, hello, [get('/'), /hello/, leave], { keepAliveTimeout: 0 }),
  'the keep-alive header says the timeout in seconds': async (http) => [
    await ask(http, hello, [get('/'), /hello/, leave], { keepAliveTimeout: 72_000 }),
    await ask(http, hello, [get('/'), /hello/, leave], { keepAliveTimeout: 1_999 }),
  ],
  'maxRequestsPerSocket: a header, then the end': (http) =>
    withLimit(100, async (keepAliveTimeout, wasInTime) => {
      const soon = { keepAliveTimeout, keepAliveTimeoutBuffer: 0 } as Options;
      await using serving = await serve(http, soon, path, (server) => {
        server.maxRequestsPerSocket = 2;
      });
      return maskKeepAlive(
        await serving.talk(get('/1'), /GET \/1$/, get('/2'), /GET \/2$/, wasInTime),
      );
    }),
  'maxRequestsPerSocket: what is too many gets 503': async (http) => {
    const dropped: string[] = [];
    await using serving = await serve(http, {}, path, (server) => {
      server.maxRequestsPerSocket = 2;
      server.on('dropRequest', (request) => dropped.push(request.url!));
    });
    const conversation = await serving.talk(
      get('/1') + get('/2') + get('/3') + get('/4'),
      /503[^]*503[^]*\r\n0\r\n\r\n$/,
      leave,
    );
    return { conversation, dropped };
  },
  'empty lines before a request': (http) =>
    ask(http, path, [`\r\n\r\n${get('/1')}`, /GET \/1$/, `\r\n${get('/2', 'Connection: close')}`]),
  'a client that ends its side still gets its answer': (http) =>
    ask(
      http,
      (_, response) => {
        setTimeout(() => response.end('late'), 30);
      },
      [get('/'), 'FIN'],
    ),
  'one slow connection does not hold up another': async (http) => {
    await using serving = await serve(http, {}, path);
    const slow = new Line(connect(serving.port));
    slow.socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n');
    const fast = await serving.talk(get('/fast', 'Connection: close'));
    const rest = await slow.follow(['Connection: close\r\n\r\n']);
    return [fast, rest];
  },
  'many connections at once': async (http) => {
    await using serving = await serve(http, {}, path);
    const talks = Array.from({ length: 200 }, (_, i) =>
      serving.talk(get(`/${i}`), /GET \/\d+$/, get(`/${i}/again`, 'Connection: close')),
    );
    return await Promise.all(talks);
  },
  'every connection is a net.Socket of its own': async (http) => {
    const seen: unknown[] = [];
    await using serving = await serve(
      http,
      {},
      (request, response) => {
        seen.push(
          [
            request.socket === response.socket,
            request.socket === request.connection,
            request.socket.remoteAddress,
            request.socket.remoteFamily,
            typeof request.socket.remotePort,
            request.socket.localAddress,
            request.socket.localPort === serving.port,
            (request.socket as { encrypted?: boolean }).encrypted,
            request.socket.destroyed,
            request.socket.readyState,
            typeof request.socket.bytesRead,
            request.socket.address(),
          ].map((fact) => (typeof fact === 'object' ? Object.keys(fact as object) : fact)),
        );
        response.end();
      },
      (server) =>
        server.on('connection', (socket) => seen.push(['connection', socket.remoteAddress])),
    );
    await serving.talk(get('/', 'Connection: close'));
    return seen;
  },
  'the socket stays the same from request to request': async (http) => {
    const sockets = new Set<unknown>();
    let marks = 0;
    const listener: Listener = (request, response) => {
      sockets.add(request.socket);
      const socket = request.socket as unknown as Record<string, unknown>;
      if (socket['mark'] === undefined) marks++;
      socket['mark'] = true;
      response.end('x');
    };
    await ask(http, listener, [get('/1'), /x$/, get('/2'), /x$/, get('/3', 'Connection: close')]);
    return [sockets.size, marks];
  },
  'Keep-Alive and close of the socket': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, {}, hello, (server) => {
      server.on('connection', (socket) => {
        log.push('connection');
        socket.on('close', (hadError: boolean) => log.push(`close ${hadError}`));
      });
    });
    const [socket] = await Promise.all([
      once(serving.server, 'connection').then(([each]) => each as NodeJS.EventEmitter),
      serving.talk(get('/'), /hello/, leave),
    ]);
    if (log.length < 2) await once(socket, 'close');
    return log;
  },
};

/** Lets the bytes so far arrive as a segment of their own. */
function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
