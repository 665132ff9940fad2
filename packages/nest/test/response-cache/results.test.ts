import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Controller,
  Get,
  Header,
  Req,
  Res,
  type INestApplication,
  type Type,
} from '@nestjs/common';
import { JsonCache, type CacheRequest } from '@redline/nest';
import { onBothFrameworks, startApp, type Framework, type TestApp } from './harness.ts';

interface AnyResponse {
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  serializer?(serialize: (value: unknown) => string): unknown;
}

interface Case {
  readonly handle: (request: CacheRequest, response: AnyResponse) => unknown;
  readonly decorate?: MethodDecorator;
  readonly prepare?: (app: INestApplication) => void;
  readonly on?: Framework;
  /** Whether the second request is a hit. */
  readonly isKept: boolean;
}

interface RawResponse {
  setHeader(name: string, value: string): void;
}

function middleware(name: string, value: string): (app: INestApplication) => void {
  return (app) =>
    app.use((_request: unknown, response: RawResponse, next: () => void) => {
      response.setHeader(name, value);
      next();
    });
}

const language = ({ headers }: CacheRequest): object => ({ in: headers['accept-language'] });

const cases: Record<string, Case> = {
  'in the language of the request, which @Header() says': {
    decorate: Header('Vary', 'Accept-Language'),
    handle: language,
    isKept: true,
  },
  'in the language of the request, which a middleware says': {
    prepare: middleware('vary', 'Accept-Language'),
    handle: language,
    isKept: true,
  },
  'in the language of the request, which it says itself, beside CORS': {
    prepare: (app) => app.enableCors({ origin: ['http://a.example', 'http://b.example'] }),
    handle: (request, response) => {
      response.header('vary', 'Origin, Accept-Language');
      return language(request);
    },
    isKept: true,
  },
  'and takes a header of a middleware away': {
    prepare: middleware('x-frame-options', 'DENY'),
    handle: (_request, response) => {
      response.removeHeader('x-frame-options');
      return { framed: true };
    },
    isKept: true,
  },
  'with a number': { handle: () => 42, isKept: true },
  'with a boolean': { handle: () => false, isKept: true },
  'with a number that JSON does not have': { handle: () => Number.NaN, isKept: false },
  'with an object that is null as JSON': { handle: () => ({ toJSON: () => null }), isKept: false },
  'with an Error': { handle: () => new Error('returned'), on: 'fastify', isKept: false },
  'with an Error as an object': {
    handle: () => new Error('returned'),
    on: 'express',
    isKept: true,
  },
  'with a content type of its own that is not JSON': {
    decorate: Header('content-type', 'text/csv'),
    handle: () => ({ id: 7 }),
    on: 'fastify',
    isKept: false,
  },
  'through a serializer of the reply': {
    handle: (_request, response) => {
      response.serializer?.((value) => `made of ${JSON.stringify(value)}`);
      return { id: 7 };
    },
    on: 'fastify',
    isKept: false,
  },
  'through response.json() of the app': {
    prepare(app) {
      const { response } = app.getHttpAdapter().getInstance() as {
        response: { json(body: unknown): unknown };
      };
      const { json } = response;
      response.json = function (body) {
        return json.call(this, { body });
      };
    },
    handle: () => ({ id: 7 }),
    on: 'express',
    isKept: false,
  },
};

function controllerOf({ handle, decorate }: Case): Type<unknown> {
  @Controller()
  class Results {
    @Get('plain')
    plain(
      @Req() request: CacheRequest,
      @Res({ passthrough: true }) response: AnyResponse,
    ): unknown {
      return handle(request, response);
    }

    @Get('cached')
    @JsonCache({ ttl: 60_000 })
    cached(
      @Req() request: CacheRequest,
      @Res({ passthrough: true }) response: AnyResponse,
    ): unknown {
      return handle(request, response);
    }
  }
  for (const name of ['plain', 'cached'] as const) {
    const descriptor = Object.getOwnPropertyDescriptor(Results.prototype, name)!;
    decorate?.(Results.prototype, name, descriptor);
  }
  return Results;
}

async function ask(app: TestApp, path: string, spoken: string, method = 'GET'): Promise<object> {
  const init = { method, headers: { 'accept-language': spoken, origin: 'http://a.example' } };
  const response = await app.fetch(path, init);
  const { date: _date, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
}

onBothFrameworks('A cached route answers as an uncached one', (framework) => {
  for (const [what, each] of Object.entries(cases)) {
    if (each.on !== undefined && each.on !== framework) continue;
    it(what, async () => {
      const app = await startApp(framework, [controllerOf(each)], {}, each.prepare);
      try {
        for (const [spoken, method] of [
          ['en', 'GET'],
          ['en', 'GET'],
          ['de', 'GET'],
          ['en', 'GET'],
          ['de', 'HEAD'],
          ['de', 'GET'],
        ] as const) {
          const expected = await ask(app, '/plain', spoken, method);
          assert.deepEqual(await ask(app, '/cached', spoken, method), expected, spoken);
        }
        const expected = await ask(app, '/plain', 'fr');
        const together = [1, 2, 3].map(() => ask(app, '/cached', 'fr'));
        for (const answer of await Promise.all(together)) assert.deepEqual(answer, expected);
        assert.equal(app.cache.stats.hits > 0, each.isKept);
      } finally {
        await app.stop();
      }
    });
  }
});

describe('What CORS varies by', () => {
  it('is not in the key: it does its part on every request', async () => {
    const app = await startApp(
      'fastify',
      [controllerOf({ handle: () => ({ id: 7 }), isKept: true })],
      {},
      (nest) => nest.enableCors({ origin: ['http://a.example', 'http://b.example'] }),
    );
    try {
      for (const origin of ['http://a.example', 'http://b.example']) {
        const { headers } = await app.fetch('/cached', { headers: { origin } });
        assert.equal(headers.get('access-control-allow-origin'), origin);
      }
      const { hits, misses } = app.cache.stats;
      assert.deepEqual({ hits, misses }, { hits: 1, misses: 1 });
    } finally {
      await app.stop();
    }
  });
});
