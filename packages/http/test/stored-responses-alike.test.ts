// Every GET asked twice: what the engine sends by itself is, byte by byte, what the application's response was.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { responseStoreOf, createServer, engine } from '../src/index.ts';
import { serve, type HttpModule } from './conformance/engine.ts';
import { talk, type Conversation } from './conformance/wire.ts';

const skip = engine().name === 'native' ? false : 'the addon is not built';
const cases = 100;

interface Made {
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: string;
}

for (const threaded of [false, true]) {
  describe(
    `a hit is as the response was, threaded: ${threaded}:`,
    { skip, timeout: 600_000 },
    () => {
      for (const seed of [1, 2, 3])
        test(`responses of seed ${seed}`, () => compare(threaded, seed));
    },
  );
}

async function compare(threaded: boolean, seed: number): Promise<void> {
  const draw = drawFrom(seed);
  const made = Array.from({ length: cases }, () => drawResponse(draw));
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    const { status, headers, body } = made[Number(request.url!.slice(1))]!;
    const etag = headers.find(([name]) => name === 'ETag')?.[1];
    if (etag !== undefined && request.headers['if-none-match'] === etag) {
      const isKept = ([name]: [string, string]): boolean =>
        !/^content-(?:type|length)$/i.test(name);
      response.writeHead(304, headers.filter(isKept).flat()).end();
    } else {
      response.statusCode = status;
      for (const [name, value] of headers) response.appendHeader(name, value);
      response.end(body);
    }
  };
  const module = { createServer } as unknown as HttpModule;
  await using serving = await serve(module, { threaded } as object, handler);
  const store = responseStoreOf(serving.server)!;
  for (const [index, response] of made.entries()) {
    const target = `/${index}`;
    const requests = Array.from({ length: 4 }, () => drawRequest(draw, target, response));
    const before: Conversation[] = [];
    for (const request of requests) before.push(await talk(serving.port, ...request));
    const offered = { url: target, headers: {} };
    const offer = { ...response, freshMs: 600_000 };
    store.offer(offered, offer, store.ticket());
    assert.equal(store.offer(offered, offer, store.ticket()), 'kept');
    for (const [place, request] of requests.entries()) {
      const after = await talk(serving.port, ...request);
      const asked = JSON.stringify([
        response.status,
        response.headers,
        response.body.length,
        request,
      ]);
      assert.deepEqual(short(after), short(before[place]!), asked);
    }
  }
  const { hits } = store.stats();
  assert.ok(hits > cases, `${hits} hits`);
}

/** A body is all one letter. */
function short({ received, end }: Conversation): Conversation {
  return { received: received.replaceAll(/x{5,}/g, (run) => `<${run.length}>`), end };
}

function drawResponse(draw: (below: number) => number): Made {
  const pick = <T>(values: readonly T[]): T => values[draw(values.length)]!;
  const body = 'x'.repeat(pick([0, 1, 5, 1000, 16_383, 16_384, 70_000]));
  const possible: [string, string][] = [
    ['Content-Type', 'application/json; charset=utf-8'],
    ['content-length', `${body.length}`],
    ['ETag', '"e,1"'],
    ['X-A', '1'],
    ['X-A', '2'],
    ['Cache-Control', 'public, max-age=5'],
    ['Last-Modified', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['X-Empty', ''],
  ];
  return {
    status: pick([200, 200, 200, 201, 203, 301, 404, 410, 500, 599]),
    headers: possible.filter(() => draw(2) === 0),
    body,
  };
}

/** The last of what is asked closes the connection. */
function drawRequest(draw: (below: number) => number, target: string, { headers }: Made): string[] {
  const pick = <T>(values: readonly T[]): T => values[draw(values.length)]!;
  const one = (close: boolean): string => {
    const version = pick(['1.1', '1.1', '1.0']);
    // What is not closed by its client may be closed by its server: a client of HTTP/1.0 that does not ask for more.
    const lines = [
      'Host: a',
      close || version === '1.0' ? 'Connection: close' : pick(['X-B: c', 'Connection: keep-alive']),
      ...pick([[], [], ['If-None-Match: "e,1"'], ['If-None-Match: "other"'], ['Range: bytes=0-1']]),
      ...pick([[], ['If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT'], ['Cookie: a=b']]),
    ];
    const method = headers.length % 2 === 0 ? 'GET' : pick(['GET', 'HEAD']);
    return `${method} ${target} HTTP/${version}\r\n${lines.join('\r\n')}\r\n\r\n`;
  };
  return [pick(['', one(false)]) + one(true)];
}

function drawFrom(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state ^ (state >>> 12)) >>> 0) % below;
  };
}
