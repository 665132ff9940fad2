import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  ask,
  attempt,
  describeError,
  gate,
  serve,
  type Behaviours,
  type HttpModule,
} from './engine.ts';
import { leave } from './wire.ts';

type Doing = (response: ServerResponse, note: (fact: unknown) => void) => unknown;

/** What goes out for what a listener does; on a connection that would be kept, and on one that would not. */
async function sent(http: HttpModule, doing: Doing, method = 'GET'): Promise<unknown> {
  const notes: unknown[] = [];
  const answers: unknown[] = [];
  for (const version of ['1.1', '1.0']) {
    answers.push(
      await ask(
        http,
        async (_, response) => {
          response.on('error', (error) => notes.push(['error', describeError(error)]));
          await doing(response, (fact) => notes.push(fact));
        },
        [`${method} / HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`],
      ),
    );
  }
  return { answers, notes };
}

export const responses: Behaviours = {
  'end alone': (http) => sent(http, (response) => response.end()),
  'end with text': (http) => sent(http, (response) => response.end('text')),
  'end with text above ASCII': (http) => sent(http, (response) => response.end('ä€😀')),
  'end with an encoding': async (http) => [
    await sent(http, (response) => response.end('6869', 'hex')),
    await sent(http, (response) => response.end('aGk=', 'base64')),
    await sent(http, (response) => response.end('\xe4', 'latin1')),
    await sent(http, (response) => response.end('hi', 'utf16le')),
  ],
  'end with a Buffer, a Uint8Array': async (http) => [
    await sent(http, (response) => response.end(Buffer.from('buffer'))),
    await sent(http, (response) => response.end(new Uint8Array([104, 105]))),
  ],
  'end with what is no chunk': (http) =>
    sent(http, (response, note) => {
      for (const chunk of [1, true, {}, [], Symbol.iterator.description, null, undefined]) {
        note(attempt(() => response.write(chunk as string)));
      }
      note(attempt(() => response.end({} as string)));
      note(attempt(() => response.end(1 as never)));
      response.end();
    }),
  'write and end': (http) =>
    sent(http, (response, note) => {
      note(response.write('one'));
      note(response.write(Buffer.from('two')));
      note(response.write(''));
      response.end('three');
    }),
  'write, a turn, end': (http) =>
    sent(http, async (response) => {
      response.write('one');
      await new Promise((resolve) => setImmediate(resolve));
      response.write('two');
      await new Promise((resolve) => setImmediate(resolve));
      response.end();
    }),
  'corked writes': (http) =>
    sent(http, (response, note) => {
      response.cork();
      response.write('one');
      response.write('two');
      note(response.writableCorked);
      response.uncork();
      response.cork();
      response.write('three');
      response.end('four');
      note(response.writableCorked);
    }),
  'write with a known length': (http) =>
    sent(http, (response) => {
      response.setHeader('Content-Length', 6);
      response.write('one');
      response.end('two');
    }),
  'fewer or more bytes than said': async (http) => {
    const doing: Doing[] = [
      (response) => {
        response.setHeader('Content-Length', 5);
        response.end('ab');
      },
      (response) => {
        response.setHeader('Content-Length', 2);
        response.write('ab');
        response.end('cd');
      },
    ];
    return [await sent(http, doing[0]!), await sent(http, doing[1]!)];
  },
  strictContentLength: async (http) => {
    const outcomes: unknown[] = [];
    for (const [length, body] of [
      [5, 'ab'],
      [2, 'abcd'],
      [2, 'ab'],
    ] as const) {
      outcomes.push(
        await sent(http, (response, note) => {
          (response as unknown as { strictContentLength: boolean }).strictContentLength = true;
          response.writeHead(200, { 'Content-Length': length });
          note(attempt(() => void response.write(body)));
          note(attempt(() => void response.end()));
          if (!response.writableEnded) response.destroy();
        }),
      );
    }
    return outcomes;
  },
  'Transfer-Encoding: chunked, asked for': (http) =>
    sent(http, (response) => {
      response.setHeader('Transfer-Encoding', 'chunked');
      response.end('text');
    }),
  'Transfer-Encoding: identity, asked for': (http) =>
    sent(http, (response) => {
      response.setHeader('Transfer-Encoding', 'identity');
      response.end('text');
    }),
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
  'callbacks of write and end': (http) =>
    sent(http, async (response, note) => {
      const ended = gate();
      response.write('a', () => note('written a'));
      response.write('b', 'latin1', () => note('written b'));
      response.end('c', () => {
        note('ended');
        ended.open();
      });
      await ended.opened;
    }),
  'drain, then the callbacks of the writes before it': async (http) => {
    const log: string[] = [];
    const answer = await ask(
      http,
      (_, response) => {
        response.on('drain', () => {
          log.push('drain');
          response.end('end', () => log.push('ended'));
        });
        log.push(`${response.write('x'.repeat(200_000), () => log.push('written'))}`);
      },
      ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    );
    return { log, length: answer.received.length };
  },
  'writes after the end': (http) =>
    sent(http, async (response, note) => {
      response.end('x');
      const refused = gate();
      note(
        attempt(() =>
          response.write('y', (error) => {
            note(['callback', describeError(error)]);
            refused.open();
          }),
        ),
      );
      await refused.opened;
      note(attempt(() => typeof response.end('z')));
      note(attempt(() => typeof response.end()));
    }),
  'end twice, with callbacks': (http) =>
    sent(http, async (response, note) => {
      const both = [gate(), gate()];
      response.end('x', () => both[0]!.open());
      response.end((error?: Error) => {
        note(describeError(error) ?? null);
        both[1]!.open();
      });
      await Promise.all(both.map(({ opened }) => opened));
    }),
  'a stream piped into a response': (http) =>
    sent(http, (response) => {
      Readable.from(['a', 'b', 'c']).pipe(response);
    }),
  'pipeline into a response': (http) =>
    sent(http, async (response, note) => {
      await pipeline(Readable.from([Buffer.alloc(100_000, 'p'), Buffer.from('end')]), response);
      note('done');
    }),
  'a large text': async (http) => {
    const { answers } = (await sent(http, (response) => response.end('ü'.repeat(300_000)))) as {
      answers: { received: string; end: string }[];
    };
    return answers.map(({ received, end }) => [
      received.slice(0, received.indexOf('\r\n\r\n')),
      received.length,
      end,
    ]);
  },
  'finish and close of a response, in order': async (http) => {
    const log: string[] = [];
    const closed = gate();
    await using serving = await serve(http, {}, (_, response) => {
      for (const name of ['prefinish', 'finish', 'close', 'error', 'drain', 'pipe']) {
        response.on(name, () => log.push(name));
      }
      response.on('close', closed.open);
      response.end('x', () => log.push('callback'));
    });
    await serving.talk('GET / HTTP/1.1\r\nHost: a\r\n\r\n', /x$/, () => closed.opened, leave);
    return log;
  },
  'two answers of one connection do not run into each other': (http) =>
    ask(
      http,
      async (request, response) => {
        response.write(`${request.url} a`);
        await new Promise((resolve) => setImmediate(resolve));
        response.end(`${request.url} b`);
      },
      ['GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ),
  rejectNonStandardBodyWrites: async (http) => {
    const outcomes: unknown[] = [];
    await using serving = await serve(
      http,
      { rejectNonStandardBodyWrites: true },
      (_, response) => {
        response.statusCode = 204;
        outcomes.push(attempt(() => response.write('x')));
        outcomes.push(attempt(() => void response.end('x')));
        if (!response.writableEnded) response.end();
      },
    );
    return [await serving.talk('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'), outcomes];
  },
};
