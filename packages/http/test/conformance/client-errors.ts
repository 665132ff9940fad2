import { once } from 'node:events';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import {
  describeError,
  gate,
  moment,
  serve,
  type Behaviours,
  type Listener,
  type Options,
} from './engine.ts';
import { connect, Line } from './wire.ts';

const hello: Listener = (_, response) => {
  response.end('hello');
};
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** Looks at the connections often, so that short limits are kept. */
const often: Options = { connectionsCheckingInterval: 20 };

export const clientErrors: Behaviours = {
  'clientError gets the error and the socket': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, hello, (server) => {
      server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket) => {
        seen.open([describeError(error), error.rawPacket?.toString(), socket.writable]);
        socket.end('HTTP/1.1 418 Not Me\r\n\r\n');
      });
    });
    return [await serving.talk('BAD REQUEST\r\n\r\n'), await seen.opened];
  },
  'clientError that does nothing, and a client that goes': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, {}, hello, (server) => {
      server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
        log.push(error.code!);
        socket.on('end', () => log.push('end')).on('close', () => log.push('close'));
      });
    });
    const told = async () => {
      while (log.length === 0) await moment(5);
    };
    const conversation = await serving.talk('BAD\r\n\r\n', told, 'FIN');
    await serving.nobody();
    return { conversation, log };
  },
  'clientError comes again for every further piece': async (http) => {
    const log: unknown[] = [];
    const pieces: Record<string, string[]> = {
      'a bad method': ['BAD\r\n\r\n', get, '*'],
      'a bad chunk': [
        'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
        'x\r\n',
        '1\r\na\r\n0\r\n\r\n',
        get,
      ],
      'a head too large': [`GET /${'x'.repeat(1_000)} HTTP/1.1\r\n\r\n`, get],
    };
    for (const [what, [first, ...further]] of Object.entries(pieces)) {
      const over = gate<void>();
      await using serving = await serve(
        http,
        { maxHeaderSize: 500 },
        (request) => {
          request.on('error', () => {});
          line.socket.write(further.shift()!);
        },
        (server) => {
          server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket) => {
            const { code, message } = error as NodeJS.ErrnoException;
            log.push([what, code, message, error.rawPacket?.toString().slice(0, 50)]);
            const piece = further.shift();
            if (piece === undefined) {
              socket.destroy();
              over.open();
            } else {
              line.socket.write(piece);
            }
          });
        },
      );
      const line = new Line(connect(serving.port));
      line.socket.write(first!);
      await over.opened;
    }
    return log;
  },
  'clientError that is heard once only': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, hello, (server) => {
      server.once('clientError', (error) => seen.open(describeError(error)));
    });
    return [await serving.talk('BAD\r\n\r\n', () => seen.opened, get)];
  },
  'clientError says what is wrong, and where': async (http) => {
    const errors: unknown[] = [];
    await using serving = await serve(http, {}, hello, (server) => {
      server.on('clientError', (error, socket) => {
        errors.push(describeError(error));
        socket.destroy();
      });
    });
    const post = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    for (const bytes of [
      'PRI / HTTP/1.1\r\nHost: a\r\n\r\n',
      'PRI * HTTP/1.0\r\nHost: a\r\n\r\n',
      'PRI * HTTP/2.1\r\n\r\n',
      ...['Content-Length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'Proxy-Connection'].map(
        (name) => `GET / HTTP/1.1\r\n${name} : x\r\n\r\n`,
      ),
      'GET / HTTP/1.1\r\nConnectio : x\r\n\r\n',
      'GET / HTTP/1.1\r\nUpgrade\t: x\r\n\r\n',
      `${post}0\r\n X: y\r\n\r\n`,
      `${post}0\r\n\tX: y\r\n\r\n`,
      `${post}0\r\nX : y\r\n\r\n`,
    ]) {
      await serving.talk(bytes);
    }
    return errors;
  },
  'clientError of a timeout': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(
      http,
      { ...often, headersTimeout: 50, requestTimeout: 0 },
      hello,
      (server) => {
        server.on('clientError', (error, socket) => {
          seen.open(describeError(error));
          socket.end('HTTP/1.1 408 Mine\r\n\r\n');
        });
      },
    );
    return [await serving.talk('GET / HTTP/1.1\r\n'), await seen.opened];
  },
  'clientError of a head too large': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, { maxHeaderSize: 500 }, hello, (server) => {
      server.on('clientError', (error, socket) => {
        seen.open((describeError(error) as { code: string }).code);
        socket.destroy();
      });
    });
    return [await serving.talk(`GET /${'x'.repeat(1_000)} HTTP/1.1\r\n\r\n`), await seen.opened];
  },
  'clientError of a reset': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, hello, (server) => {
      server.on('clientError', (error, socket) => {
        seen.open(describeError(error));
        socket.destroy();
      });
    });
    const line = new Line(connect(serving.port));
    const connected = once(serving.server, 'connection');
    line.socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
    await connected;
    line.socket.resetAndDestroy();
    return await seen.opened;
  },
  'clientError of a reset before any request, when nobody has heard of the connection': async (
    http,
  ) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, hello, (server) => {
      server.on('clientError', (error, socket) => {
        seen.open([describeError(error), socket.destroyed, socket.writable]);
        socket.destroy();
      });
    });
    const line = new Line(connect(serving.port));
    const count = promisify(serving.server.getConnections.bind(serving.server));
    while ((await count()) === 0) await moment(5);
    line.socket.resetAndDestroy();
    return await seen.opened;
  },
  'clientError of what comes in two packets tells of the second': async (http) => {
    const errors: unknown[] = [];
    await using serving = await serve(http, { maxHeaderSize: 500 }, hello, (server) => {
      server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket) => {
        errors.push([describeError(error), error.rawPacket?.toString()]);
        socket.destroy();
      });
    });
    const halves: [string, string][] = [
      ['GET / HT', 'GET / HTTP/1.1\r\n\r\n'],
      ['GET / HTTP/1.1\r\nHost: a\r\nX', ' : b\r\n\r\n'],
      ['POST / HTTP/1.1\r\nHost: a\r\nContent-', 'Length: -1\r\n\r\n'],
      [`GET / HTTP/1.1\r\nX: ${'x'.repeat(300)}`, `${'x'.repeat(300)}\r\n\r\n`],
      ['\r\n\r\nGET', ' / HTTP/9.9\r\n\r\n'],
    ];
    for (const [first, second] of halves) {
      const connected = once(serving.server, 'connection');
      const line = new Line(connect(serving.port));
      line.socket.write(first);
      const [socket] = (await connected) as [Socket];
      while (socket.bytesRead < first.length) await moment(5);
      line.socket.write(second);
      await line.untilClosed();
    }
    return errors;
  },
  'clientError of half a request': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, hello, (server) => {
      server.on('clientError', (error, socket) => {
        seen.open(describeError(error));
        socket.end('HTTP/1.1 400 Mine\r\n\r\n');
      });
    });
    return [await serving.talk('GET / HTTP/1.1\r\nHost: a\r\n', 'FIN'), await seen.opened];
  },
  'an error after a good request leaves its answer whole': async (http) => {
    await using serving = await serve(http, {}, hello);
    return await serving.talk(`${get}BAD\r\n\r\n`);
  },
  'an error while an answer is due': async (http) => {
    await using serving = await serve(http, {}, (_, response) => {
      setTimeout(() => response.end('late'), 50);
    });
    return await serving.talk(`${get}BAD\r\n\r\n`);
  },
};
