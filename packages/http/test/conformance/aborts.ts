import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { finished } from 'node:stream';
import {
  describeError,
  gate,
  happened,
  serve,
  trace,
  untilNobody,
  type Behaviours,
  type HttpModule,
} from './engine.ts';
import { connect, leave, Line } from './wire.ts';

const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n';
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

type Leaving = (socket: Socket) => void;
const leavings: Record<string, Leaving> = {
  'a reset': (socket) => socket.resetAndDestroy(),
  'an end of both sides': (socket) => socket.destroy(),
};

interface Scene {
  request: IncomingMessage;
  response: ServerResponse;
}
type Handler = (scene: Scene) => void;

/** What a handler sees when its client goes. @param sent before the client leaves */
async function abandoned(
  http: HttpModule,
  sent: string,
  go: Leaving,
  handle: Handler = () => {},
): Promise<unknown> {
  const log: string[] = [];
  const arrived = gate<Scene>();
  await using serving = await serve(http, {}, (request, response) => {
    trace(request, 'request', ['aborted', 'end', 'error', 'close'], log);
    trace(response, 'response', ['finish', 'error', 'close'], log);
    handle({ request, response });
    arrived.open({ request, response });
  });
  const line = new Line(connect(serving.port));
  const connection = once(serving.server, 'connection') as Promise<[Socket]>;
  line.socket.write(sent);
  const [socket] = await connection;
  const { request, response } = await arrived.opened;
  if (sent === get && response.headersSent) await line.until(/\r\n\r\n/);
  const closed = [happened(socket, 'close'), response.closed || happened(response, 'close')];
  go(line.socket);
  await Promise.all(closed);
  await untilNobody(serving.server);
  return {
    log,
    request: [
      request.aborted,
      request.complete,
      request.destroyed,
      request.readableEnded,
      describeError(request.errored),
    ],
    response: [
      response.destroyed,
      response.writableEnded,
      response.writableFinished,
      response.headersSent,
      describeError(response.errored),
    ],
    socket: socket.destroyed,
  };
}

export const aborts: Behaviours = {
  ...Object.fromEntries(
    Object.entries(leavings).flatMap(([name, go]) => [
      [`${name} before the answer`, (http: HttpModule) => abandoned(http, get, go)],
      [
        `${name} before the answer, nobody minds an error`,
        (http: HttpModule) =>
          abandoned(http, get, go, ({ request }) => {
            request.on('error', () => {});
            request.resume();
          }),
      ],
      [
        `${name} in the middle of the body`,
        (http: HttpModule) =>
          abandoned(http, `${post}abc`, go, ({ request }) => {
            request.on('data', () => {});
          }),
      ],
      [
        `${name} in the middle of a body nobody reads`,
        (http: HttpModule) => abandoned(http, `${post}abc`, go),
      ],
      [
        `${name} in the middle of the answer`,
        (http: HttpModule) =>
          abandoned(http, get, go, ({ request, response }) => {
            request.resume();
            response.write('begun');
          }),
      ],
    ]),
  ),
  'an end of one side in the middle of the body': async (http) => {
    const log: string[] = [];
    const closed = gate();
    await using serving = await serve(http, {}, (request, response) => {
      trace(request, 'request', ['aborted', 'error', 'close'], log);
      trace(response, 'response', ['finish', 'close'], log);
      request.resume();
      response.on('close', closed.open);
    });
    const conversation = await serving.talk(`${post}abc`, 'FIN');
    await closed.opened;
    return { conversation, log };
  },
  'writing to who has gone': async (http) => {
    const outcome = gate<unknown>();
    await using serving = await serve(http, {}, (_, response) => {
      response.on('close', () => {
        const events: unknown[] = [];
        response.on('error', (error) => events.push(describeError(error)));
        const written = response.write('x', (error) =>
          events.push(['write', describeError(error)]),
        );
        response.end('y', () => events.push('end'));
        setTimeout(() => outcome.open([written, events, response.writableEnded]), 30);
      });
    });
    const line = new Line(connect(serving.port));
    line.socket.write(get);
    await once(serving.server, 'request');
    line.socket.resetAndDestroy();
    return await outcome.opened;
  },
  'a handler that destroys its response': (http) =>
    destroyed(http, ({ response }) => response.destroy()),
  'a handler that destroys its response with an error': (http) =>
    destroyed(http, ({ response }) => response.destroy(new Error('mine'))),
  'a handler that destroys its request': (http) =>
    destroyed(http, ({ request }) => request.destroy()),
  'a handler that destroys its request with an error': (http) =>
    destroyed(http, ({ request }) => request.destroy(new Error('mine'))),
  'a handler that destroys the socket': (http) =>
    destroyed(http, ({ request }) => request.socket.destroy()),
  'a handler that ends the socket': (http) =>
    destroyed(http, ({ request }) => request.socket.end()),
  'a handler that resets the socket': (http) =>
    destroyed(http, ({ request }) => request.socket.resetAndDestroy()),
  'a handler that destroys its response after it began': (http) =>
    destroyed(http, ({ response }) => {
      response.write('begun');
      response.destroy();
    }),
  'a handler that destroys its response after its end': (http) =>
    destroyed(http, ({ response }) => {
      response.end('done');
      response.destroy();
    }),
  'finished tells of an abort': async (http) => {
    const seen: unknown[] = [];
    const both = gate();
    await using serving = await serve(http, {}, (request, response) => {
      const note = (name: string) => (error?: Error | null) => {
        seen.push([name, describeError(error) ?? null]);
        if (seen.length === 2) both.open();
      };
      finished(request, note('request'));
      finished(response, note('response'));
    });
    const line = new Line(connect(serving.port));
    line.socket.write(`${post}abc`);
    await once(serving.server, 'request');
    line.socket.resetAndDestroy();
    await both.opened;
    return seen.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  },
  'an abort ends an iteration with an error': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, async (request) => {
      try {
        for await (const chunk of request) void chunk;
        seen.open('ended');
      } catch (error) {
        seen.open(describeError(error));
      }
    });
    const line = new Line(connect(serving.port));
    line.socket.write(`${post}abc`);
    await once(serving.server, 'request');
    line.socket.destroy();
    return await seen.opened;
  },
  'an abort of one of several pipelined requests': async (http) => {
    const closed: string[] = [];
    const all = gate();
    await using serving = await serve(http, {}, (request, response) => {
      response.on('close', () => {
        closed.push(`${request.url} ${response.writableFinished}`);
        if (closed.length === 3) all.open();
      });
      if (request.url === '/1') response.end('x');
    });
    const line = new Line(connect(serving.port));
    line.socket.write(['/1', '/2', '/3'].map((url) => get.replace('/ ', `${url} `)).join(''));
    await line.until(/x$/);
    line.socket.resetAndDestroy();
    await all.opened;
    return closed.toSorted();
  },
  'others go on while one is reset': async (http) => {
    await using serving = await serve(http, {}, (request, response) => {
      request.on('error', () => {});
      response.on('error', () => {});
      setTimeout(() => response.end(`answer ${request.url}`), 20);
    });
    const answers = Array.from({ length: 30 }, async (_, i) => {
      if (i % 3 > 0) {
        const line = new Line(connect(serving.port));
        line.socket.write(i % 3 === 1 ? get : `${post}ab`);
        await once(line.socket, 'connect');
        line.socket.resetAndDestroy();
        return 'gone';
      }
      return await serving.talk(`GET /${i} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    });
    return await Promise.all(answers);
  },
  'a client that never says anything and goes': async (http) => {
    await using serving = await serve(http, {}, () => {});
    const line = new Line(connect(serving.port));
    const [socket] = (await once(serving.server, 'connection')) as [Socket];
    const closed = happened(socket, 'close');
    line.socket.destroy();
    return await closed;
  },
  'an answer after the client has half closed': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, {}, (request, response) => {
      trace(request, 'request', ['aborted', 'end', 'close'], log);
      request.resume();
      request.socket.on('end', () => response.end('after its end'));
    });
    const conversation = await serving.talk(get, 'FIN');
    return { conversation, log };
  },
  'a response one turn after the client has half closed': async (http) => {
    await using serving = await serve(http, {}, (request, response) => {
      request.resume();
      setImmediate(() => response.end('a turn later'));
    });
    const expecting = `${post.replace('Host', 'Expect: 100-continue\r\nHost')}ab`;
    return [await serving.talk(get, 'FIN'), await serving.talk(expecting, 'FIN')];
  },
  'an answer that was complete is no abort': async (http) => {
    const log: string[] = [];
    const closed = gate();
    await using serving = await serve(http, {}, (request, response) => {
      trace(request, 'request', ['aborted', 'error', 'close'], log);
      trace(response, 'response', ['finish', 'error', 'close'], log);
      response.on('close', closed.open);
      request.resume();
      response.end('x');
    });
    await serving.talk(get, /x$/, () => closed.opened, leave);
    return log;
  },
};

async function destroyed(http: HttpModule, act: Handler): Promise<unknown> {
  const log: string[] = [];
  const closed = gate();
  await using serving = await serve(http, {}, (request, response) => {
    trace(request, 'request', ['aborted', 'error', 'close'], log);
    trace(response, 'response', ['finish', 'error', 'close'], log);
    request.socket.on('close', closed.open);
    act({ request, response });
  });
  const conversation = await serving.talk(get);
  await closed.opened;
  await untilNobody(serving.server);
  return { conversation, log: log.toSorted() };
}
