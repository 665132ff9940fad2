import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import {
  ask,
  attempt,
  describeError,
  gate,
  moment,
  serve,
  textOf,
  untilNobody,
  withLimit,
  type Behaviours,
  type HttpModule,
  type Listener,
  type Options,
} from './engine.ts';
import { connect, leave, Line, maskKeepAlive, type Conversation, type Step } from './wire.ts';

const hello: Listener = (_, response) => {
  response.end('hello');
};
const echo =
  (begun?: () => void): Listener =>
  async (request, response) => {
    begun?.();
    try {
      response.end(`got ${(await textOf(request)).length}`);
    } catch {
      // The client is told by status.
    }
  };
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** Looks at the connections often, so that short limits are kept. */
const often: Options = { connectionsCheckingInterval: 20 };
const none: Options = { ...often, headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };

async function ends(
  http: HttpModule,
  listener: Listener,
  options: Options,
  steps: Step[],
): Promise<{ conversation: Conversation; errors: unknown[] }> {
  const errors: unknown[] = [];
  await using serving = await serve(http, options, listener, (server) => {
    server.on('connection', (socket: Socket) =>
      socket.on('error', (error) => errors.push(describeError(error))),
    );
  });
  return { conversation: await serving.talk(...steps), errors };
}

export const limits: Behaviours = {
  'defaults of a server': (http) => Object.entries(shown(http.createServer())),
  'options of a server': (http) =>
    Object.entries(
      shown(
        http.createServer({
          keepAliveTimeout: 1,
          headersTimeout: 2,
          requestTimeout: 3,
          connectionsCheckingInterval: 4,
          maxHeaderSize: 5,
          keepAliveTimeoutBuffer: 6,
          joinDuplicateHeaders: true,
          requireHostHeader: false,
          rejectNonStandardBodyWrites: true,
          noDelay: false,
          keepAlive: true,
          keepAliveInitialDelay: 7,
          highWaterMark: 8,
        } as Options),
      ),
    ),
  'options that are refused': (http) =>
    [
      null,
      'text',
      1,
      { requestTimeout: -1 },
      { requestTimeout: 'x' },
      { headersTimeout: -1 },
      { headersTimeout: 5, requestTimeout: 3 },
      { headersTimeout: '1' },
      { keepAliveTimeout: -1 },
      { keepAliveTimeout: null },
      { connectionsCheckingInterval: -1 },
      { maxHeaderSize: -1 },
      { maxHeaderSize: 'x' },
      { insecureHTTPParser: 1 },
      { requireHostHeader: 1 },
      { joinDuplicateHeaders: 'yes' },
      { rejectNonStandardBodyWrites: 1 },
      { highWaterMark: -1 },
      { highWaterMark: 'x' },
      { noDelay: 1 },
      { keepAlive: 'x' },
      { uniqueHeaders: 1 },
      { keepAliveTimeoutBuffer: -1 },
      { optimizeEmptyRequests: 1 },
      { shouldUpgradeCallback: 1 },
    ].map((options) => {
      const outcome = attempt(() => http.createServer(options as Options));
      return [options, outcome];
    }),
  'headersTimeout: a head that never ends': (http) =>
    ends(http, hello, { ...often, headersTimeout: 60, requestTimeout: 0 }, [
      'GET / HTTP/1.1\r\nHost: a\r\n',
    ]),
  'headersTimeout: nothing at all': (http) =>
    ends(http, hello, { ...often, headersTimeout: 60, requestTimeout: 0 }, []),
  'headersTimeout: a head in drops': async (http) => {
    await using serving = await serve(
      http,
      { ...often, headersTimeout: 100, requestTimeout: 0 },
      hello,
    );
    const line = new Line(connect(serving.port));
    line.socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
    // Behind whatever has come by then: a second drop for a server that has gone would cost what it has said.
    const drip = setInterval(() => {
      setImmediate(() => line.received === '' && line.socket.write('X-A: b\r\n'));
    }, 10);
    await line.untilClosed();
    clearInterval(drip);
    line.socket.destroy();
    return line.received;
  },
  'headersTimeout: of the second request': (http) =>
    withLimit(60, (headersTimeout, wasInTime) =>
      ends(http, hello, { ...often, headersTimeout, requestTimeout: 0 }, [
        get,
        /hello/,
        wasInTime,
        'GET / HTTP/1.1\r\n',
      ]),
    ),
  'headersTimeout: a head in time, then a slow answer': (http) =>
    withLimit(60, (headersTimeout, wasInTime) =>
      ends(
        http,
        (_, response) => {
          wasInTime();
          setTimeout(() => response.end('late'), 3 * headersTimeout);
        },
        { ...often, headersTimeout, requestTimeout: 0 },
        [get.replace('Host', 'Connection: close\r\nHost')],
      ),
    ),
  'requestTimeout: a body that never ends': (http) =>
    withLimit(60, (requestTimeout, wasInTime) =>
      ends(http, echo(wasInTime), { ...often, requestTimeout, headersTimeout: 0 }, [
        'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc',
      ]),
    ),
  'requestTimeout: a chunked body that never ends': (http) =>
    withLimit(60, (requestTimeout, wasInTime) =>
      ends(http, echo(wasInTime), { ...often, requestTimeout, headersTimeout: 0 }, [
        'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
      ]),
    ),
  'requestTimeout: an answer that takes longer is none of it': (http) =>
    withLimit(60, (requestTimeout, wasInTime) =>
      ends(
        http,
        (_, response) => {
          wasInTime();
          setTimeout(() => response.end('late'), 3 * requestTimeout);
        },
        { ...often, requestTimeout, headersTimeout: 0 },
        [get.replace('Host', 'Connection: close\r\nHost')],
      ),
    ),
  'requestTimeout: when an answer has begun, there is no second one': (http) =>
    withLimit(60, (requestTimeout, wasInTime) =>
      ends(
        http,
        (_, response) => {
          wasInTime();
          response.write('begun');
        },
        { ...often, requestTimeout, headersTimeout: 0 },
        ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc'],
      ),
    ),
  'keepAliveTimeout closes a silent connection': (http) =>
    ends(http, hello, { ...often, keepAliveTimeout: 30, keepAliveTimeoutBuffer: 0 } as Options, [
      get,
      /hello/,
    ]),
  'keepAliveTimeout counts from the last answer': (http) =>
    withLimit(400, async (keepAliveTimeout, wasInTime) => {
      const options = { ...often, keepAliveTimeout, keepAliveTimeoutBuffer: 0 } as Options;
      const again: Step[] = [() => moment(keepAliveTimeout / 4), get, /hello/];
      const all = [get, /hello/, ...again, ...again, ...again, ...again];
      const { conversation, errors } = await ends(http, hello, options, [...all, wasInTime]);
      return [maskKeepAlive(conversation), errors];
    }),
  'keepAliveTimeout does not end an answer': (http) =>
    ends(
      http,
      (_, response) => {
        setTimeout(() => response.end('late'), 150);
      },
      { ...often, keepAliveTimeout: 30, keepAliveTimeoutBuffer: 0 } as Options,
      [get, /late/],
    ),
  'keepAliveTimeout of 0 keeps': (http) =>
    ends(http, hello, none, [get, /hello/, () => moment(150), get, /hello/, leave]),
  'the timeout of a server': async (http) => {
    const log: unknown[] = [];
    await using serving = await serve(http, none, hello, (server) => {
      log.push(server.timeout, server.setTimeout(50) === server, server.timeout);
    });
    const silent = await serving.talk();
    const conversation = await withLimit(50, (limit, wasInTime) => {
      serving.server.setTimeout(limit);
      return serving.talk(get, /hello/, wasInTime);
    });
    return [silent, conversation, log];
  },
  'the timeout of a server, with a listener': async (http) => {
    const timed = gate<unknown[]>();
    await using serving = await serve(http, none, hello, (server) => {
      server.setTimeout(50, (socket: Socket) => {
        timed.open([socket.destroyed, socket.remoteAddress]);
        socket.destroy();
      });
    });
    return [await serving.talk(), await timed.opened];
  },
  'the timeout of a request': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, none, (request) => {
      request.setTimeout(50, () => {
        log.push('request timeout');
        request.socket.destroy();
      });
    });
    return [await serving.talk(get), log];
  },
  'the timeout of a response': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, none, (_, response) => {
      response.setTimeout(50, () => {
        log.push('response timeout');
        response.end('too slow');
      });
    });
    return [await serving.talk(get, /too slow/, leave), log];
  },
  'the timeout of a socket': async (http) => {
    await using serving = await serve(http, none, (request, response) => {
      request.socket.setTimeout(50);
      request.socket.once('timeout', () => response.end('socket timeout'));
    });
    return await serving.talk(get, /socket timeout/, leave);
  },
  'maxHeaderSize: 431': async (http) => {
    const errors: unknown[] = [];
    await using serving = await serve(http, { maxHeaderSize: 1_000 }, hello);
    const big = (size: number) =>
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-A: ${'a'.repeat(size)}\r\n\r\n`;
    return [
      await serving.talk(big(500)),
      await serving.talk(big(1_100)),
      await serving.talk(`GET /${'u'.repeat(1_100)} HTTP/1.1\r\nHost: a\r\n\r\n`),
      await serving.talk(big(500), leave),
      errors,
    ];
  },
  'maxHeaderSize: where exactly the line is': async (http) => {
    await using serving = await serve(http, { maxHeaderSize: 400 }, hello);
    const statuses: string[] = [];
    for (let size = 330; size < 400; size++) {
      const { received } = await serving.talk(
        `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-A: ${'a'.repeat(size)}\r\n\r\n`,
      );
      statuses.push(received.slice(9, 12));
    }
    return statuses;
  },
  'maxHeaderSize: the default of 16 KiB': async (http) => {
    await using serving = await serve(http, {}, hello);
    const big = (size: number) =>
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-A: ${'a'.repeat(size)}\r\n\r\n`;
    return [await serving.talk(big(16_000)), await serving.talk(big(17_000))];
  },
  'maxHeaderSize: one large and many small headers': async (http) => {
    await using serving = await serve(http, { maxHeaderSize: 2_000 }, hello);
    const many = Array.from({ length: 300 }, (_, i) => `h${i}: v\r\n`).join('');
    return await serving.talk(`GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${many}\r\n`);
  },
  'maxHeaderSize: chunk extensions': async (http) => {
    await using serving = await serve(http, {}, echo());
    const start = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    return await serving.talk(`${start}1;${'e'.repeat(20_000)}\r\na\r\n0\r\n\r\n`);
  },
  'maxHeaderSize: trailers': async (http) => {
    await using serving = await serve(http, { maxHeaderSize: 500 }, echo());
    const start = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    return await serving.talk(`${start}1\r\na\r\n0\r\nX-A: ${'t'.repeat(1_000)}\r\n\r\n`);
  },
  'maxConnections drops what is too many': async (http) => {
    const dropped = gate<unknown>();
    await using serving = await serve(http, {}, hello, (server) => {
      server.maxConnections = 1;
      server.on('drop', (facts) => dropped.open(Object.keys(facts!).toSorted()));
    });
    const first = new Line(connect(serving.port));
    first.socket.write(get);
    await first.until(/hello/);
    const second = await serving.talk();
    const facts = await dropped.opened;
    first.socket.destroy();
    return { first: first.received, second, facts };
  },
  'limits larger than any that are needed, and smaller than one': async (http) => {
    const answers: unknown[] = [];
    for (const many of [2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, Infinity, 0.5]) {
      await using serving = await serve(http, {}, hello, (server) => {
        server.maxConnections = many;
      });
      answers.push(await serving.talk(get, /hello/, leave));
    }
    for (const maxHeaderSize of [2 ** 32, Number.MAX_SAFE_INTEGER]) {
      answers.push(await ask(http, hello, [get, /hello/, leave], { maxHeaderSize }));
    }
    for (const keepAliveTimeout of [0.5, 2 ** 32, Infinity]) {
      const options = { ...often, keepAliveTimeoutBuffer: 0 } as Options;
      await using serving = await serve(http, options, hello, (server) => {
        server.keepAliveTimeout = keepAliveTimeout;
      });
      const rest = keepAliveTimeout < 1 ? [] : [leave];
      answers.push(await serving.talk(get, /hello/, ...rest));
    }
    return answers;
  },
  'a place is free again after a connection has closed': async (http) => {
    await using serving = await serve(http, {}, hello, (server) => {
      server.maxConnections = 1;
    });
    const answers: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      answers.push(await serving.talk(get.replace('Host', 'Connection: close\r\nHost')));
      await untilNobody(serving.server);
    }
    return answers;
  },
  'insecureHTTPParser takes what the strict one refuses': (http) =>
    ask(
      http,
      (request, response) => response.end(JSON.stringify(request.headers)),
      ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-A : b\r\n\r\n'],
      { insecureHTTPParser: true },
    ),
  'requireHostHeader: false': (http) =>
    ask(http, hello, ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n'], { requireHostHeader: false }),
};

function shown(server: Server): Record<string, unknown> {
  const { keepAliveTimeout, headersTimeout, requestTimeout, timeout, maxHeadersCount } = server;
  const { maxRequestsPerSocket, maxConnections, listening } = server;
  const rest = server as unknown as Record<string, unknown>;
  return {
    keepAliveTimeout,
    headersTimeout,
    requestTimeout,
    timeout,
    maxHeadersCount,
    maxRequestsPerSocket,
    maxConnections,
    listening,
    ...Object.fromEntries(
      [
        'connectionsCheckingInterval',
        'maxHeaderSize',
        'keepAliveTimeoutBuffer',
        'noDelay',
        'joinDuplicateHeaders',
        'requireHostHeader',
        'rejectNonStandardBodyWrites',
        'keepAlive',
        'keepAliveInitialDelay',
        'highWaterMark',
        'httpAllowHalfOpen',
        'insecureHTTPParser',
      ].map((name) => [name, rest[name]]),
    ),
  };
}
