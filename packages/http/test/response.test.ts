import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  connect,
  createServer as createPlainServer,
  type AddressInfo,
  type Server as PlainServer,
} from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { HttpConnection } from '../src/connection/connection.ts';
import type { EngineResponse } from '../src/exchange.ts';
import { createServer, engine } from '../src/index.ts';
import { kConnection } from '../src/node/message-state.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const skip = engine().name === 'native' ? false : 'the addon is not built';

describe('a response of the engine:', { skip, timeout: 600_000 }, () => {
  test('it finds its prototype when Express has replaced it', async () => {
    const requests = Object.create(http.IncomingMessage.prototype) as object;
    const responses = Object.create(http.ServerResponse.prototype) as object;
    const answer = await ask(async (request, response) => {
      Object.assign(request, { res: response });
      Object.setPrototypeOf(request, requests);
      Object.setPrototypeOf(response, responses);
      Object.assign(response, { locals: (response as { locals?: object }).locals ?? {} });
      const body = await text(request);
      response.setHeader('X-Body', body);
      response.write('one ');
      response.end(`two, ${request.headers.host} ${request.httpVersion}`);
    }, 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody');
    assert.match(answer, /\r\nX-Body: body\r\n/);
    // From Node 26 on the chunks of a tick leave as one.
    assert.match(answer, /\r\n(?:4\r\none \r\nA\r\n|e\r\none )two, a 1\.1\r\n0\r\n\r\n$/i);
  });

  test('chunks that are piped need no socket, and leave in the order of node:http', async () => {
    const chunks = Array.from({ length: 6 }, (_, index) => Buffer.alloc(64 * 1024, `${index}`));
    const sockets: unknown[] = [];
    const listener: Listener = (_, response) => {
      const { [kConnection]: connection } = response as unknown as EngineResponse;
      Readable.from(chunks, { objectMode: false }).pipe(response);
      response.on('finish', () => {
        sockets.push((connection as HttpConnection).existingSocket);
      });
    };
    const answer = await ask(listener, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
    const framed = chunks.map((chunk) => `10000\r\n${chunk.toString('latin1')}\r\n`).join('');
    assert.equal(body, `${framed}0\r\n\r\n`);
    assert.deepEqual(sockets, [null]);
  });

  test('such responses keep their place in a pipeline', async () => {
    let first: http.ServerResponse;
    const answer = await ask((request, response) => {
      const isFirst = request.url === '/first';
      if (isFirst) {
        first = response;
        Object.assign(request, { res: response });
        Object.setPrototypeOf(response, http.ServerResponse.prototype);
      } else {
        response.end('second');
        first.end('first');
      }
    }, 'GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    assert.match(answer, /first[\s\S]*second$/);
  });

  test('classes of the user’s own are used', async () => {
    class Request extends http.IncomingMessage {
      get shouted(): string {
        return this.url!.toUpperCase();
      }
    }
    class Response extends http.ServerResponse<Request> {
      shout(): void {
        this.end(this.req.shouted);
      }
    }
    const server = createServer(
      { IncomingMessage: Request, ServerResponse: Response },
      (_, response) => response.shout(),
    );
    const answer = await talk(server, 'GET /path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    assert.match(answer, /\/PATH$/);
  });

  test('whoever patches http.Server.prototype.emit sees every request', async () => {
    const { emit } = http.Server.prototype;
    const seen: unknown[] = [];
    http.Server.prototype.emit = function patched(this: Server, event: string, ...rest: unknown[]) {
      if (event === 'request') seen.push((rest[0] as IncomingMessage).url);
      return Reflect.apply(emit, this, [event, ...rest]) as boolean;
    } as typeof emit;
    try {
      await ask(
        (_, response) => response.end(),
        'GET /seen HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      );
    } finally {
      http.Server.prototype.emit = emit;
    }
    assert.deepEqual(seen, ['/seen']);
  });

  test('"close" of the server comes once', async () => {
    const server = createServer((_, response) => response.end());
    let closes = 0;
    server.on('close', () => (closes += 1));
    await talk(server, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    assert.equal(closes, 1);
  });

  test('a stream from emit("connection") is served by Node’s code', async () => {
    const server = createServer((request, response) => response.end(request.url));
    const front = createPlainServer((socket) => server.emit('connection', socket));
    const answer = await talk(
      front,
      'GET /passed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    assert.match(answer, /\/passed$/);
  });
});

function ask(listener: Listener, bytes: string): Promise<string> {
  return talk(createServer(listener), bytes);
}

async function talk(server: PlainServer, bytes: string): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(bytes);
  const answer = await text(client);
  const closed = once(server, 'close');
  server.close();
  await closed;
  return answer;
}
