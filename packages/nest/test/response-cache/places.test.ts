import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import {
  Controller,
  Get,
  Header,
  HttpCode,
  Injectable,
  Logger,
  Module,
  Param,
  UseGuards,
  UseInterceptors,
  VersioningType,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  engine,
  JsonCache,
  JsonCacheModule,
  JsonCacheService,
  LoggerModule,
  RedlineFactory,
  type JsonCacheModuleOptions,
  type Place,
  type RouteCachePolicy,
} from '@redline/nest';
import { responseStoreOf, type ResponseStoreStats } from '@redline/http';
import { map, type Observable } from 'rxjs';
import { onBothFrameworks, until, type Framework } from './harness.ts';

let runs = 0;
const ran: string[] = [];

@Injectable()
class Wrap implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    ran.push('Wrap');
    return next.handle().pipe(map((data) => ({ data })));
  }
}

@Injectable()
class Deny implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    ran.push('Deny');
    return context.switchToHttp().getRequest().headers['x-may'] === 'yes';
  }
}

/** The same routes, with hits answered at a place. */
function routesAt(at: Place): Type<unknown> {
  @Controller()
  class PlacedController {
    @Get('items/:id')
    @JsonCache({
      ttl: 60_000,
      at,
      vary: ['accept-language'],
      tags: ({ params }: any) => [`item:${params.id}`],
    })
    @UseInterceptors(Wrap)
    @HttpCode(203)
    @Header('X-Always', 'there')
    @Header('vary', 'accept-language')
    item(@Param('id') id: string): object {
      return { id, run: (runs += 1), text: 'naïve 日本語' };
    }

    @Get('nothing')
    @JsonCache({ at })
    nothing(): null {
      runs += 1;
      return null;
    }

    @Get('stale')
    @JsonCache({ at, ttl: 20, stale: 60_000 })
    stale(): object {
      if (runs < 0) throw new Error('down');
      return { run: (runs += 1) };
    }
  }
  return PlacedController;
}

interface Placed {
  readonly app: INestApplication;
  readonly cache: JsonCacheService;
  readonly lines: string[];
  readonly logged: string[];
  raw(...head: string[]): Promise<string>;
  text(path: string, headers?: Record<string, string>): Promise<string>;
  /** Undefined on node:http. */
  stats(): ResponseStoreStats | undefined;
}

const hasEngine = engine().name === 'native';

async function start(
  t: TestContext,
  framework: Framework,
  controllers: Array<Type<unknown>>,
  {
    module = {},
    onEngine = false,
    prepare = () => {},
    withLog = false,
  }: {
    module?: JsonCacheModuleOptions;
    onEngine?: boolean;
    prepare?: (app: INestApplication) => void;
    withLog?: false | object;
  } = {},
): Promise<Placed> {
  const lines: string[] = [];
  const logged: string[] = [];
  t.mock.method(Logger.prototype, 'log', (line: unknown) => void lines.push(String(line)));
  t.mock.method(Logger.prototype, 'warn', (line: unknown) => void lines.push(`warn ${line}`));
  const destination = { write: (line: string) => void logged.push(line) };
  @Module({
    imports: [
      JsonCacheModule.forRoot({ hosts: 'any', ...module }),
      ...(withLog ? [LoggerModule.forRoot({ destination, ...withLog } as never)] : []),
    ],
    controllers,
  })
  class AppModule {}
  const options = { logger: false, abortOnError: false } as const;
  const app: INestApplication = onEngine
    ? await RedlineFactory.create(AppModule, { adapter: framework, ...options })
    : await NestFactory.create(
        AppModule,
        framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(),
        options,
      );
  prepare(app);
  t.after(async () => {
    const server = app.getHttpServer();
    const closed = once(server, 'close');
    server.closeAllConnections();
    await app.close();
    await closed;
  });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    cache: app.get(JsonCacheService),
    lines,
    logged,
    raw: (...head) => rawRequest(port, head),
    text: async (path, headers = {}) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text(),
    stats: () => responseStoreOf(app.getHttpServer())?.stats(),
  };
}

/** What a server sends, to the byte, without the value of `Date`. */
function rawRequest(port: number, head: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => (received += piece));
    socket.on('error', reject);
    // A connection that stays open would hold the whole test file.
    socket.setTimeout(30_000, () =>
      socket.destroy(new Error(`${head[0]} is still open, with ${JSON.stringify(received)}`)),
    );
    socket.on('close', () => resolve(received.replace(/^(date: ).*\r\n/im, '$1\r\n')));
    socket.write(`${[...head, 'Host: test', 'Connection: close'].join('\r\n')}\r\n\r\n`);
  });
}

onBothFrameworks('The places of @JsonCache', (framework) => {
  for (const onEngine of [false, true]) {
    it(`send the same, to the byte, on ${onEngine ? 'the engine' : 'node:http'}`, async (t) => {
      const answeredAt = async (at: Place): Promise<Record<string, string>> => {
        runs = 0;
        const { raw, stats } = await start(t, framework, [routesAt(at)], {
          onEngine,
          module: { headers: ['etag', 'x-cache'] },
        });
        for (let i = 0; i < 4; i++)
          for (const path of ['/items/7', '/nothing']) await raw(`GET ${path} HTTP/1.1`);
        const got = await raw('GET /items/7 HTTP/1.1');
        const etag = /etag: (.*)\r\n/i.exec(got)![1]!;
        const answers: Record<string, string> = { got };
        for (const method of ['GET', 'HEAD']) {
          const line = `${method} /items/7 HTTP/1.1`;
          answers[method] = await raw(line);
          answers[`${method} 304`] = await raw(line, `If-None-Match: ${etag}`);
          answers[`${method} 200`] = await raw(line, 'If-None-Match: "other"');
          answers[`${method} browser`] = await raw(line, 'Accept: */*', 'User-Agent: Mozilla/5.0');
          answers[`${method} nothing`] = await raw(`${method} /nothing HTTP/1.1`);
        }
        // One for each route, wherever it is answered.
        assert.equal(runs, 2);
        if (onEngine && hasEngine) assert.equal((stats()?.hits ?? 0) > 0, at === 'engine');
        return answers;
      };
      const atHandler = await answeredAt('handler');
      assert.deepEqual(await answeredAt('hook'), atHandler);
      assert.deepEqual(await answeredAt('engine'), atHandler);
    });
  }

  it('are told at start, with the reason why not earlier', async (t) => {
    const { lines } = await start(t, framework, [routesAt('engine')]);
    const reported = lines.filter((line) => line.startsWith('Hits of'));
    assert.deepEqual(
      reported,
      [
        '/items/:id (PlacedController.item)',
        '/nothing (PlacedController.nothing)',
        '/stale (PlacedController.stale)',
      ].map(
        (route) =>
          `Hits of GET ${route} are answered by the hook, not by the engine: the server is that of node:http, not that of @redline/http.`,
      ),
    );
  });

  const onTheEngine = { skip: !hasEngine && 'the addon is not built' };

  it('are told of the engine, and Nest sees nothing of its hits', onTheEngine, async (t) => {
    const { lines, text, stats, cache } = await start(t, framework, [routesAt('engine')], {
      onEngine: true,
    });
    assert.deepEqual(
      lines.filter((line) => line.startsWith('Hits of')),
      [
        'Hits of GET /items/:id (PlacedController.item) are answered by the engine.',
        'Hits of GET /nothing (PlacedController.nothing) are answered by the engine.',
        'Hits of GET /stale (PlacedController.stale) are answered by the engine.',
      ],
    );
    const first = await text('/items/1');
    for (let tries = 0; tries < 500 && stats()!.hits === 0; tries++)
      assert.equal(await text('/items/1'), first);
    const { hits } = cache.stats;
    ran.length = 0;
    assert.equal(await text('/items/1'), first);
    assert.deepEqual([ran, cache.stats.hits], [[], hits]);
    await cache.invalidate('item:1');
    assert.notEqual(await text('/items/1'), first);
  });

  it('give each hit of the engine its line', onTheEngine, async (t) => {
    const { lines, logged, text, stats } = await start(t, framework, [routesAt('engine')], {
      onEngine: true,
      withLog: {},
    });
    assert.match(lines.join('\n'), /nothing\) are answered by the engine\.$/m);
    for (let i = 0; i < 10; i++) await text('/items/1');
    assert.ok(stats()!.hits > 0);
    await until('ten lines', () => logged.join('').split('"url":"/items/1"').length === 11);
  });

  it('give each origin its own CORS headers', onTheEngine, async (t) => {
    const { raw, stats } = await start(t, framework, [routesAt('engine')], {
      onEngine: true,
      prepare: (app) => app.enableCors({ origin: ['http://a.test', 'http://b.test'] }),
    });
    for (let round = 0; round < 6; round++) {
      for (const origin of ['http://a.test', 'http://b.test']) {
        const response = await raw('GET /nothing HTTP/1.1', `Origin: ${origin}`);
        const allowed = /^access-control-allow-origin: (.*)\r$/im.exec(response)?.[1];
        assert.equal(allowed, origin);
      }
      assert.doesNotMatch(await raw('GET /nothing HTTP/1.1'), /access-control-allow-origin/i);
    }
    assert.ok(stats()!.hits > 0);
  });

  it(
    'leave to the hook what JavaScript alone can log, and what middleware has to see',
    onTheEngine,
    async (t) => {
      const logged = await start(t, framework, [routesAt('engine')], {
        onEngine: true,
        // Nobody but JavaScript can write these lines.
        withLog: { fields: 'full' },
      });
      assert.match(
        logged.lines.join('\n'),
        /nothing\) are answered by the hook, not by the engine: /,
      );
      for (let i = 0; i < 10; i++) await logged.text('/items/1');
      await until(
        'ten lines',
        () => logged.logged.join('').split('"url":"/items/1"').length === 11,
      );
      const watched = await start(t, framework, [routesAt('engine')], {
        onEngine: true,
        prepare: (app) =>
          app.use(function seesAll(_request: unknown, _response: unknown, next: () => void) {
            ran.push('middleware');
            next();
          }),
      });
      assert.match(
        watched.lines.join('\n'),
        /nothing\) are answered by the hook, not by the engine: .* would not run; guards: 'skipped' says that hits do without/,
      );
      ran.length = 0;
      for (let i = 0; i < 10; i++) await watched.text('/nothing');
      assert.deepEqual(
        ran,
        Array.from({ length: 10 }, () => 'middleware'),
      );
    },
  );

  it('are not told of where nothing is set', async (t) => {
    const { lines } = await start(t, framework, [routesAt('handler')]);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('Hits of')),
      [],
    );
  });

  it('of the hook: nothing of Nest runs on a hit, and middleware does', async (t) => {
    const { text } = await start(t, framework, [routesAt('hook')], {
      prepare: (app) =>
        app.use((_request: unknown, _response: unknown, next: () => void) => {
          ran.push('middleware');
          next();
        }),
    });
    const first = await text('/items/1');
    ran.length = 0;
    assert.equal(await text('/items/1'), first);
    assert.deepEqual(ran, ['middleware']);
  });

  it('keep the line of each request', async (t) => {
    const { text, logged } = await start(t, framework, [routesAt('hook')], { withLog: {} });
    for (let i = 0; i < 5; i++) await text('/items/1');
    await until('five lines', () => logged.join('').split('"url":"/items/1"').length === 6);
  });

  it('forget what is invalidated, and give the old response while a new one is made', async (t) => {
    const { text, cache } = await start(t, framework, [routesAt('hook')]);
    const first = await text('/items/1');
    await cache.invalidate('item:1');
    const second = await text('/items/1');
    assert.notEqual(second, first);
    assert.equal(await text('/items/1'), second);
    const good = await text('/stale');
    const old = Date.now() + 30;
    t.mock.method(Date, 'now', () => old);
    runs = -1_000;
    assert.equal(await text('/stale'), good);
    runs = 0;
  });

  it('above a guard are refused, unless it may be skipped', async (t) => {
    const guarded = (policy: RouteCachePolicy): Type<unknown> => {
      @Controller()
      @UseGuards(Deny)
      class GuardedController {
        @Get('guarded')
        @JsonCache({ at: 'hook', identify: 'public', ...policy })
        guarded(): object {
          return { run: (runs += 1) };
        }
      }
      return GuardedController;
    };
    await assert.rejects(
      async () => {
        @Module({ imports: [JsonCacheModule.forRoot()], controllers: [guarded({})] })
        class AppModule {}
        const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
        const app: INestApplication = await NestFactory.create(AppModule, adapter, {
          logger: false,
          abortOnError: false,
        });
        await app.init();
      },
      {
        code: 'ERR_REDLINE_CACHE_GUARD',
        message:
          /^GET \/guarded \(GuardedController\.guarded\) has at: 'hook', but Deny would not run on hits/,
      },
    );
    const { text } = await start(t, framework, [guarded({ guards: 'skipped' })]);
    assert.match(await text('/guarded'), /Forbidden/);
    const answer = await text('/guarded', { 'x-may': 'yes' });
    ran.length = 0;
    assert.equal(await text('/guarded'), answer);
    assert.deepEqual(ran, []);
  });

  it('fall back to the handler where the hook would not know enough', async (t) => {
    @Controller({ path: 'versioned', version: '2' })
    class VersionedController {
      @Get()
      @JsonCache({ at: 'hook' })
      versioned(): object {
        return { version: 2 };
      }
    }
    @Controller({ path: 'versioned', version: '1' })
    class OldController {
      @Get()
      @JsonCache({ at: 'hook' })
      versioned(): object {
        return { version: 1 };
      }
    }
    @Controller({ path: 'hosted', host: ':of.test' })
    class HostedController {
      @Get()
      @JsonCache({ at: 'hook' })
      hosted(): object {
        return {};
      }
    }
    @Controller()
    @UseGuards(Deny)
    class NamedController {
      @Get('named')
      @JsonCache({ at: 'hook', guards: 'skipped', identify: (request) => String(request.user) })
      named(): object {
        return {};
      }
    }
    const { text, lines } = await start(
      t,
      framework,
      [VersionedController, OldController, HostedController, NamedController],
      {
        prepare: (app) =>
          app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
      },
    );
    for (let i = 0; i < 2; i++)
      for (const version of [1, 2])
        assert.equal(
          await text('/versioned', { 'x-version': String(version) }),
          JSON.stringify({ version }),
        );
    const reported = lines.filter((line) => line.startsWith('Hits of')).join('\n');
    assert.match(
      reported,
      /hosted\) are answered in place of the handler, not by the hook: its controller is bound to a host/,
    );
    assert.match(
      reported,
      /named\) are answered in place of the handler, not by the hook: identify is a function, which may read what Deny finds out/,
    );
    if (framework === 'express')
      assert.match(
        reported,
        /versioned\) are answered in place of the handler, not by the hook: its version is not in the URL/,
      );
  });

  it('fall back to the handler where an interceptor has to see each request', async (t) => {
    @Injectable()
    class Count implements NestInterceptor {
      intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
        ran.push('Count');
        return next.handle();
      }
    }
    const { text, lines } = await start(t, framework, [routesAt('hook')], {
      module: { runOnHits: [Count] },
      prepare: (app) => void app.useGlobalInterceptors(new Count()),
    });
    ran.length = 0;
    for (let i = 0; i < 3; i++) await text('/nothing');
    assert.deepEqual(ran, ['Count', 'Count', 'Count']);
    assert.match(
      lines.join('\n'),
      /nothing\) are answered in place of the handler, not by the hook: Count of runOnHits has to see each request/,
    );
  });

  it('fall back to the handler for a method that several controllers inherit', async (t) => {
    abstract class Base {
      @Get()
      @JsonCache({ at: 'hook' })
      own(): object {
        return { of: this.constructor.name };
      }
    }
    @Controller('one')
    class One extends Base {}
    @Controller('two')
    class Two extends Base {}
    const { text, lines } = await start(t, framework, [One, Two]);
    for (let i = 0; i < 2; i++) {
      assert.equal(await text('/one'), '{"of":"One"}');
      assert.equal(await text('/two'), '{"of":"Two"}');
    }
    assert.match(
      lines.join('\n'),
      /are answered in place of the handler: several controllers have it/,
    );
  });

  it('keep two apps of one process apart', async (t) => {
    const routes = routesAt('hook');
    const one = await start(t, framework, [routes]);
    const two = await start(t, framework, [routes]);
    const first = await one.text('/items/1');
    assert.notEqual(await two.text('/items/1'), first);
    assert.equal(await one.text('/items/1'), first);
    assert.equal(one.cache.stats.hits, 1);
  });
});

describe('A Fastify hook between', () => {
  it('stands like a guard: the app does not start', async () => {
    @Module({ imports: [JsonCacheModule.forRoot()], controllers: [routesAt('hook')] })
    class AppModule {}
    const adapter = new FastifyAdapter();
    const app = await NestFactory.create(AppModule, adapter, {
      logger: false,
      abortOnError: false,
    });
    adapter.getInstance().addHook('preHandler', async function authenticate() {});
    await assert.rejects(app.listen(0), {
      code: 'ERR_REDLINE_CACHE_GUARD',
      message: /authenticate/,
    });
  });
});

describe('The engine of this machine', () => {
  it('serves, or the tests above are of node:http alone', (t) => {
    if (engine().name === 'node') t.diagnostic('there is no engine here');
  });
});
