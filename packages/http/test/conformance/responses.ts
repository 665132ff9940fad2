import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ask, attempt, describeError, gate, serve, type Behaviours } from './engine.ts';
import { sent, type Doing } from './sent.ts';
import { leave } from './wire.ts';

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
