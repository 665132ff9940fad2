import { ask, attempt, gate, type Behaviours, type HttpModule } from './engine.ts';
import { sent } from './sent.ts';

export const responseHeads: Behaviours = {
  'HEAD has the headers alone': (http) =>
    sent(http, (response) => response.end('not sent'), 'HEAD'),
  'HEAD with writes': (http) =>
    sent(
      http,
      (response, note) => {
        note(response.write('not'));
        response.end('sent');
      },
      'HEAD',
    ),
  'HEAD with a length': (http) =>
    sent(
      http,
      (response) => {
        response.writeHead(200, { 'Content-Length': 1_000 });
        response.end();
      },
      'HEAD',
    ),
  'HEAD on a kept connection': (http) =>
    ask(http, (_, response) => response.end('body'), [
      'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n',
      /\r\n\r\n/,
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    ]),
  ...Object.fromEntries(
    [204, 205, 304, 200, 201, 299, 302, 404, 418, 500, 599, 799, 999].map((status) => [
      `status ${status}, with a body and without`,
      async (http: HttpModule) => [
        await sent(http, (response) => {
          response.statusCode = status;
          response.end('body');
        }),
        await sent(http, (response) => {
          response.statusCode = status;
          response.end();
        }),
        await sent(http, (response) => {
          response.writeHead(status);
          response.write('bo');
          response.end('dy');
        }),
      ],
    ]),
  ),
  '204 and 304 with lengths and encodings of their own': async (http) => [
    await sent(http, (response) => {
      response.writeHead(204, { 'Content-Length': 0 });
      response.end();
    }),
    await sent(http, (response) => {
      response.writeHead(304, { 'Content-Length': 100 });
      response.end();
    }),
    await sent(http, (response) => {
      response.writeHead(204, { 'Transfer-Encoding': 'chunked' });
      response.end();
    }),
  ],
  'a status that is none': (http) =>
    sent(http, (response, note) => {
      for (const status of [
        0,
        99,
        1000,
        -1,
        Number.NaN,
        'abc',
        null,
        undefined,
        {},
        '200',
        200.9,
      ]) {
        if (status === '200' || status === 200.9) continue;
        note(attempt(() => response.writeHead(status as number)));
      }
      response.statusCode = 42;
      note(attempt(() => response.end('x')));
      response.statusCode = 200;
      response.end('x');
    }),
  'a status that is text': (http) =>
    sent(http, (response) => response.writeHead('201' as never).end()),
  'status messages': async (http) => [
    await sent(http, (response) => {
      response.statusMessage = 'Of My Own';
      response.end();
    }),
    await sent(http, (response) => response.writeHead(200, 'Given').end()),
    await sent(http, (response) => response.writeHead(200, 'Given', { 'X-A': 'b' }).end()),
    await sent(http, (response) => response.writeHead(200, '', { 'X-A': 'b' }).end()),
    await sent(http, (response) => {
      response.statusMessage = '';
      response.writeHead(299).end();
    }),
    await sent(http, (response, note) => {
      note(attempt(() => response.writeHead(200, 'a\r\nX-B: c')));
      response.statusMessage = 'b\nc';
      note(attempt(() => response.end()));
      response.statusMessage = 'fine';
      response.end();
    }),
    await sent(http, (response) => {
      response.statusMessage = 'caf\xe9';
      response.end();
    }),
  ],
  'forms of writeHead': async (http) => [
    await sent(http, (response) =>
      response.writeHead(200, ['A', '1', 'B', '2', 'A', '3'] as never).end('x'),
    ),
    await sent(http, (response, note) => {
      note(attempt(() => response.writeHead(200, ['A', '1', 'B'] as never)));
      response.end('x');
    }),
    await sent(http, (response) => {
      response.setHeader('X-Set', 'a');
      response.setHeader('B', 'b');
      response.writeHead(200, ['A', '1', 'B', '2', 'A', '3'] as never).end('x');
    }),
    await sent(http, (response) =>
      response
        .writeHead(200, [
          ['A', '1'],
          ['B', '2'],
        ] as never)
        .end('x'),
    ),
    await sent(http, (response) => response.writeHead(200, { A: ['1', '2'], B: 3 }).end('x')),
    await sent(http, (response) => response.writeHead(200, undefined, { A: '1' }).end('x')),
    await sent(http, (response, note) => {
      response.writeHead(200);
      note(attempt(() => response.writeHead(200)));
      response.end('x');
    }),
  ],
  'trailers of a response': (http) =>
    sent(http, (response, note) => {
      note(attempt(() => typeof response.writeHead(200, { Trailer: 'X-Sum' })));
      response.write('body');
      response.addTrailers({ 'X-Sum': '42', 'X-Two': 'a' });
      response.end();
    }),
  'trailers, in other forms': async (http) => [
    await sent(http, (response) => {
      response.write('a');
      response.addTrailers([
        ['A', '1'],
        ['B', '2'],
      ] as never);
      response.end();
    }),
    await sent(http, (response) => {
      response.addTrailers({ A: ['1', '2'] as never });
      response.write('a');
      response.end('b');
    }),
    await sent(http, (response) => {
      response.addTrailers({ A: '1' });
      response.end('known length');
    }),
    await sent(http, (response, note) => {
      response.write('a');
      note(attempt(() => response.addTrailers({ 'A\r\n': '1' })));
      note(attempt(() => response.addTrailers({ A: '1\r\nB: 2' })));
      response.end();
    }),
    await sent(http, (response, note) => {
      note(attempt(() => response.writeHead(200, { Trailer: 'A', 'Content-Length': 1 })));
      note(attempt(() => response.end('x')));
      response.destroy();
    }),
  ],
  flushHeaders: (http) =>
    ask(
      http,
      (request, response) => {
        response.setHeader('X-A', 'b');
        response.flushHeaders();
        request.on('data', () => response.end('body'));
      },
      [
        'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\n',
        /\r\n\r\n/,
        'x',
      ],
    ),
  'flushHeaders of a head that is not ASCII': (http) =>
    sent(http, (response) => {
      response.setHeader('X-Name', 'café');
      response.flushHeaders();
      response.end('tail');
    }),
  'flushHeaders, then end alone': (http) =>
    sent(http, (response) => {
      response.flushHeaders();
      response.end();
    }),
  'what a response says of itself, on its way': (http) =>
    sent(http, async (response, note) => {
      const facts = () => [
        response.headersSent,
        response.writableEnded,
        response.writableFinished,
        response.finished,
        response.destroyed,
        response.writable,
        response.writableLength,
        response.writableObjectMode,
        response.writableCorked,
        response.writableNeedDrain,
        response.chunkedEncoding,
        response.closed,
        response.errored,
      ];
      note(facts());
      response.write('a');
      note(facts().toSpliced(6, 1));
      const finished = gate();
      response.on('finish', () => finished.open());
      response.end();
      note(facts().toSpliced(6, 1).toSpliced(2, 1));
      await finished.opened;
      note([response.writableFinished, response.writableEnded, response.headersSent]);
    }),
};
