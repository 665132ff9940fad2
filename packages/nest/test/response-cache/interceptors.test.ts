import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Controller,
  Get,
  Injectable,
  Logger,
  Module,
  Query,
  Scope,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { JsonCache, JsonCacheModule, JsonCacheService, RedlineFactory } from '@redline/nest';
import { map, tap, type Observable } from 'rxjs';
import { onBothFrameworks, startApp, type Framework } from './harness.ts';
import { interceptorsOfTheEcosystem, User, type Kind } from './interceptors.ts';

const kinds = await interceptorsOfTheEcosystem();
const places = ['app', 'controller', 'method'] as const;
type Place = (typeof places)[number];
const servers = ['node:http', 'the engine'] as const;

function makeModule(kind: Kind, place: Place): Type<unknown> {
  @Controller()
  class Users {
    @Get('plain')
    plain(@Query('fail') fail?: string): Promise<User> {
      return load(fail);
    }

    @Get('cached')
    @JsonCache({ ttl: 60_000 })
    cached(@Query('fail') fail?: string): Promise<User> {
      return load(fail);
    }
  }
  for (const name of ['plain', 'cached'] as const) {
    const descriptor = Object.getOwnPropertyDescriptor(Users.prototype, name)!;
    kind.decorate?.(Users.prototype, name, descriptor);
    if (place === 'method') UseInterceptors(kind.type)(Users.prototype, name, descriptor);
  }
  if (place === 'controller') UseInterceptors(kind.type)(Users);

  @Module({
    imports: [JsonCacheModule.forRoot({ logger: false }), ...(kind.imports ?? [])],
    controllers: [Users],
    providers: place === 'app' ? [{ provide: APP_INTERCEPTOR, useClass: kind.type }] : [],
  })
  class AppModule {}
  return AppModule;
}

async function load(fail: string | undefined): Promise<User> {
  await sleep(5);
  if (fail !== undefined) throw new Error(`failed ${fail}`);
  return new User();
}

function create(
  module: Type<unknown>,
  framework: Framework,
  server: (typeof servers)[number],
): Promise<INestApplication> {
  const options = { logger: false, abortOnError: false } as const;
  if (server === 'the engine')
    return RedlineFactory.create(module, { ...options, adapter: framework });
  const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  return NestFactory.create(module, adapter, options);
}

/** All of a response but what belongs to its own connection and moment. */
async function facts(response: Response): Promise<object> {
  const body = Buffer.from(await response.arrayBuffer()).toString('latin1');
  const headers = Object.fromEntries(response.headers);
  for (const name of ['date', 'connection', 'keep-alive', 'x-cache']) delete headers[name];
  return { status: response.status, headers, body };
}

for (const framework of ['fastify', 'express'] as const) {
  for (const server of servers) {
    describe(`A cached route answers what it would answer uncached, on ${framework} and ${server}`, () => {
      for (const [name, kind] of Object.entries(kinds)) {
        for (const place of places) {
          it(`behind ${name}, of the ${place}`, async () => {
            const app = await create(makeModule(kind, place), framework, server);
            await app.listen(0, '127.0.0.1');
            const { port } = app.getHttpServer().address() as AddressInfo;
            const ask = async (path: string): Promise<object> =>
              facts(await fetch(`http://127.0.0.1:${port}${path}${kind.query ?? ''}`));
            try {
              const expected = await ask('/plain');
              const together = await Promise.all(Array.from({ length: 4 }, () => ask('/cached')));
              for (const answer of together) assert.deepEqual(answer, expected);
              assert.deepEqual(await ask('/cached'), expected, 'hit');
              const { hits, unshared, misses } = app.get(JsonCacheService).stats;
              assert.ok(hits >= 1 || unshared > 0 || (kind.query !== undefined && misses > 0));
            } finally {
              const closed = once(app.getHttpServer(), 'close');
              app.getHttpServer().closeAllConnections();
              await app.close();
              await closed;
            }
          });
        }
      }
    });
  }
}

const order: string[] = [];

function watching(name: string, scope = Scope.DEFAULT): Type<NestInterceptor> {
  @Injectable({ scope })
  class Watching implements NestInterceptor {
    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      order.push(name);
      return next.handle().pipe(tap((value) => void order.push(`${name} ${typeof value}`)));
    }
  }
  return Watching;
}

@Injectable()
class Envelope implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

onBothFrameworks('Interceptors outside the method', (framework) => {
  it('are inside the cache, in the order of Nest, on the routes that have it', async () => {
    const [First, Second, Third] = ['first', 'second', 'third'].map((name) => watching(name));
    @Controller()
    @UseInterceptors(Second!)
    class Both {
      @Get('cached')
      @UseInterceptors(Third!)
      @JsonCache()
      cached(): object {
        return { a: 1 };
      }

      @Get('plain')
      plain(): object {
        return { a: 1 };
      }
    }
    const app = await startApp(framework, [Both], {}, (nest) =>
      nest.useGlobalInterceptors(new First!()),
    );
    order.length = 0;
    assert.equal(await app.text('/cached'), '{"a":1}');
    assert.deepEqual(order, [
      'first',
      'second',
      'third',
      'third object',
      'second object',
      'first object',
    ]);
    assert.equal(await app.text('/cached'), '{"a":1}');
    assert.equal(order.length, 6, 'none on a hit');
    assert.equal(await app.text('/plain'), '{"a":1}');
    assert.deepEqual(order.slice(6), ['first', 'second', 'second object', 'first object']);
    await app.stop();
  });

  it('are inside though they are made for each request', async () => {
    const Scoped = watching('scoped', Scope.REQUEST);
    @Controller()
    class Users {
      @Get('cached')
      @JsonCache()
      cached(): object {
        return { a: 1 };
      }
    }
    @Module({
      imports: [JsonCacheModule.forRoot()],
      controllers: [Users],
      providers: [
        { provide: APP_INTERCEPTOR, useClass: Scoped },
        { provide: APP_INTERCEPTOR, useClass: Envelope, scope: Scope.REQUEST },
      ],
    })
    class AppModule {}
    const app = await create(AppModule, framework, 'node:http');
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    order.length = 0;
    for (let i = 0; i < 2; i++) {
      const answer = await fetch(`http://127.0.0.1:${port}/cached`);
      assert.equal(await answer.text(), '{"data":{"a":1}}');
    }
    assert.equal(app.get(JsonCacheService).stats.hits, 1);
    await app.close();
  });

  it('run on every request where runOnHits names them, and the log says which do not', async (t) => {
    const said = t.mock.method(Logger.prototype, 'log', () => {});
    const Log = watching('log');
    @Controller()
    class Users {
      @Get('cached')
      @JsonCache()
      cached(): object {
        return { a: 1 };
      }
    }
    const app = await startApp(framework, [Users], { runOnHits: [Log] }, (nest) =>
      nest.useGlobalInterceptors(new Log(), new Envelope()),
    );
    order.length = 0;
    for (let i = 0; i < 2; i++) assert.equal(await app.text('/cached'), '{"data":{"a":1}}');
    assert.deepEqual(order, ['log', 'log string', 'log', 'log string']);
    await app.stop();
    const lines = said.mock.calls.map((call) => String(call.arguments[0]));
    assert.deepEqual(
      lines.filter((line) => line.includes('runOnHits')),
      [
        'Their effect on a result is cached with it, so they do not run on hits: Envelope of the app. List those that only observe in runOnHits.',
      ],
    );
  });

  it('do not run for hits of a controller that two apps of one process have', async () => {
    @Controller()
    @UseInterceptors(Envelope)
    class Users {
      @Get('cached')
      @JsonCache()
      cached(): object {
        return { a: 1 };
      }
    }
    for (let i = 0; i < 2; i++) {
      const app = await startApp(framework, [Users]);
      assert.equal(await app.text('/cached'), '{"data":{"a":1}}');
      assert.equal(await app.text('/cached'), '{"data":{"a":1}}');
      assert.equal(app.cache.stats.hits, 1);
      await app.stop();
    }
  });
});

describe('What a framework does to a result before it is text', () => {
  it('is kept with it: preSerialization of Fastify', async () => {
    @Controller()
    class Users {
      @Get('plain')
      plain(): User {
        return new User();
      }

      @Get('cached')
      @JsonCache()
      cached(): User {
        return new User();
      }
    }
    const app = await startApp('fastify', [Users], {}, (nest) => {
      const fastify = nest.getHttpAdapter().getInstance();
      fastify.addHook(
        'preSerialization',
        async (_request: unknown, _reply: unknown, user: User) => {
          const { password: _, ...rest } = user;
          return rest;
        },
      );
      fastify.addHook(
        'preSerialization',
        (_request: unknown, _reply: unknown, data: object, done: (e: null, v: object) => void) =>
          done(null, { data }),
      );
    });
    const expected = await app.text('/plain');
    assert.match(expected, /^\{"data":\{"id":7,/);
    assert.doesNotMatch(expected, /hunter2/);
    for (let i = 0; i < 2; i++) assert.equal(await app.text('/cached'), expected);
    assert.equal(app.cache.stats.hits, 1);
    await app.stop();
  });

  it('keeps the cache away where it cannot be known: a middleware of Express replaces json()', async (t) => {
    const warned = t.mock.method(Logger.prototype, 'warn', () => {});
    @Controller()
    class Users {
      @Get('cached')
      @JsonCache()
      cached(): User {
        return new User();
      }
    }
    const app = await startApp('express', [Users], {}, (nest) =>
      nest.use(
        (_request: unknown, response: { json(body: unknown): unknown }, next: () => void) => {
          const json = response.json.bind(response);
          response.json = (body) => json({ ...(body as User), password: undefined });
          next();
        },
      ),
    );
    for (let i = 0; i < 2; i++) assert.doesNotMatch(await app.text('/cached'), /hunter2/);
    assert.equal(app.cache.stats.stores, 0);
    await app.stop();
    assert.deepEqual(
      warned.mock.calls.map((call) => call.arguments[0]),
      [
        'A response of GET /cached (Users.cached) goes out uncached: a middleware replaces response.json().',
      ],
    );
  });
});
