import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  Controller,
  Get,
  Headers,
  HostParam,
  Injectable,
  Logger,
  Module,
  Param,
  Res,
  UseInterceptors,
  VersioningType,
  type CallHandler,
  type DynamicModule,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  JsonCache,
  JsonCacheModule,
  jsonCacheErrorDocs,
  memoryStore,
  type JsonCacheModuleOptions,
  type JsonStore,
} from '@redline/nest';
import { cacheErrorDocs } from '@redline/response-cache';
import { map, type Observable } from 'rxjs';
import { onBothFrameworks, startApp, type TestApp } from './harness.ts';

let runs = 0;

@Injectable()
class Wrap implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

@Controller()
class RunsController {
  @Get('runs')
  @JsonCache()
  runs(): object {
    return { run: (runs += 1) };
  }

  @Get('wrapped')
  @JsonCache()
  @UseInterceptors(Wrap)
  wrapped(): object {
    return { run: (runs += 1) };
  }

  @Get('wrapped-above')
  @UseInterceptors(Wrap)
  @JsonCache()
  wrappedAbove(): object {
    return { run: (runs += 1) };
  }
}

@Module({ providers: [{ provide: 'settings', useValue: { ttl: 60_000 } }], exports: ['settings'] })
class SettingsModule {}

onBothFrameworks('JsonCacheModule', (framework) => {
  it('takes its options from other providers', async () => {
    const store = memoryStore();
    const cacheModule = JsonCacheModule.forRootAsync({
      imports: [SettingsModule],
      inject: ['settings'],
      useFactory: async (settings: JsonCacheModuleOptions) => ({
        ...settings,
        store,
        keyPrefix: 'shop:',
        hosts: 'any',
      }),
    });
    const app = await startApp(framework, [RunsController], cacheModule);
    const answer = await app.text('/runs');
    assert.equal(await app.text('/runs'), answer);
    assert.equal(store.get('shop:3:url-----0:5:/runs')?.trim(), answer);
    await app.stop();
  });

  it('puts the interceptors of the method inside the cache, wherever their decorators stand', async () => {
    const app = await startApp(framework, [RunsController]);
    for (const path of ['/wrapped', '/wrapped-above']) {
      const answer = await app.text(path);
      assert.match(answer, /^\{"data":\{"run":\d+\}\}$/);
      assert.equal(await app.text(path), answer);
    }
    await app.stop();
  });

  it('gives the counters as they stand', async () => {
    const app = await startApp(framework, [RunsController]);
    const before = app.cache.stats;
    await app.text('/runs');
    await app.text('/runs');
    assert.deepEqual(app.cache.stats, { ...before, hits: 1, misses: 1, stores: 1 });
    assert.equal(app.cache.isStoreDown, false);
    await app.stop();
  });

  it('takes its options from a class, one of its own or one that is there', async () => {
    @Injectable()
    class CacheOptions {
      createJsonCacheOptions(): JsonCacheModuleOptions {
        return { keyPrefix: 'class:', hosts: 'any', store };
      }
    }
    @Module({ providers: [CacheOptions], exports: [CacheOptions] })
    class OptionsModule {}
    const store = memoryStore();
    for (const options of [
      { useClass: CacheOptions },
      { imports: [OptionsModule], useExisting: CacheOptions },
    ]) {
      const app = await startApp(
        framework,
        [RunsController],
        JsonCacheModule.forRootAsync(options),
      );
      const answer = await app.text('/runs');
      assert.equal(store.get('class:3:url-----0:5:/runs')?.trim(), answer);
      store.delete('class:3:url-----0:5:/runs');
      await app.stop();
    }
  });

  it('has a cache for each app, made of the same options', async () => {
    const options = JsonCacheModule.forRoot();
    const [first, second] = [
      await startApp(framework, [RunsController], options),
      await startApp(framework, [RunsController], options),
    ];
    assert.notEqual(await first.text('/runs'), await second.text('/runs'));
    assert.equal(second.cache.stats.misses, 1);
    await Promise.all([first.stop(), second.stop()]);
  });

  it('hands no outage on to the next app', async () => {
    let isAway = true;
    const memory = memoryStore();
    const store: JsonStore = {
      get(key) {
        if (isAway) throw new Error('away');
        return memory.get(key);
      },
      set: (key, raw, ttl) => memory.set(key, raw, ttl),
      delete: (key) => memory.delete(key),
    };
    const options = JsonCacheModule.forRoot({ store, logger: false });
    const first = await startApp(framework, [RunsController], options);
    await first.text('/runs');
    assert.equal(first.cache.isStoreDown, true);
    await first.stop();
    isAway = false;
    const second = await startApp(framework, [RunsController], options);
    assert.equal(second.cache.isStoreDown, false);
    assert.equal(await second.text('/runs'), await second.text('/runs'));
    await second.stop();
  });

  it('gives each host answers of its own, unless it is told which there are', async () => {
    const ask = async (app: TestApp, host: string): Promise<string> => {
      const sent = request(`${app.url}/runs`, { headers: { host }, agent: false }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return text(response);
    };
    const each = await startApp(framework, [RunsController], JsonCacheModule.forRoot());
    const own = await ask(each, 'shop.test');
    assert.notEqual(await ask(each, 'evil.test'), own);
    assert.equal(await ask(each, 'shop.test'), own);
    await assert.rejects(each.cache.delete('/runs'), { code: 'ERR_REDLINE_CACHE_KEY' });
    await each.cache.delete('/runs', { host: 'shop.test' });
    assert.notEqual(await ask(each, 'shop.test'), own);
    await each.stop();

    const hosts = ['shop.test', 'www.shop.test'];
    const listed = await startApp(framework, [RunsController], { hosts });
    const first = await ask(listed, 'shop.test');
    assert.equal(await ask(listed, 'shop.test'), first);
    assert.notEqual(await ask(listed, 'evil.test'), await ask(listed, 'evil.test'));
    await listed.cache.delete('/runs');
    assert.notEqual(await ask(listed, 'shop.test'), first);
    await listed.stop();

    const any = await startApp(framework, [RunsController], { hosts: 'any' });
    assert.equal(await ask(any, 'shop.test'), await ask(any, 'evil.test'));
    await any.stop();
  });

  it('tracks answers by what the app says, on routes that do not say', async () => {
    const app = await startApp(framework, [RunsController], {
      trackBy: ({ originalUrl }: { originalUrl: string }) =>
        originalUrl.includes('never') ? undefined : 'all of them',
    });
    const answer = await app.text('/runs?a');
    assert.equal(await app.text('/runs?b'), answer);
    assert.notEqual(await app.text('/runs?never'), answer);
    await app.stop();
  });

  it('keeps the status and the headers that a handler sets', async () => {
    @Controller()
    class HeadController {
      @Get('head')
      @JsonCache()
      async head(
        @Res({ passthrough: true })
        response: { status(code: number): void; header(name: string, value: string): void },
      ): Promise<object> {
        runs += 1;
        // Long enough for the others to ask meanwhile.
        await sleep(20);
        response.status(201);
        response.header('x-total-count', '12');
        response.header('link', '</head?page=2>; rel="next"');
        response.header('content-type', 'application/hal+json; charset=utf-8');
        response.header('x-request-id', 'of the first alone');
        return { id: 7 };
      }
    }
    const app = await startApp(framework, [HeadController]);
    runs = 0;
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.fetch('/head')));
    answers.push(await app.fetch('/head'));
    for (const answer of answers) {
      assert.equal(answer.status, 201);
      assert.equal(answer.headers.get('x-total-count'), '12');
      assert.equal(answer.headers.get('link'), '</head?page=2>; rel="next"');
      assert.equal(answer.headers.get('content-type'), 'application/hal+json; charset=utf-8');
      assert.equal(await answer.text(), '{"id":7}');
    }
    const named = answers.filter((answer) => answer.headers.has('x-request-id'));
    assert.equal(named.length, 1, 'a request id is of one request');
    assert.equal(runs, 1);
    await app.stop();
  });

  it('learns by what a response varies', async () => {
    @Controller()
    class GreetingController {
      @Get('greeting')
      @JsonCache()
      greet(
        @Headers('accept-language') language: string,
        @Res({ passthrough: true }) response: { header(name: string, value: string): void },
      ): object {
        response.header('vary', 'Accept-Language');
        return { language, run: (runs += 1) };
      }
    }
    const app = await startApp(framework, [GreetingController], {}, (nest) =>
      nest.enableCors({ origin: ['https://a.test', 'https://b.test'] }),
    );
    const ask = async (language: string): Promise<string> => {
      const answer = await app.fetch('/greeting', { headers: { 'accept-language': language } });
      assert.match(answer.headers.get('vary')!, /Accept-Language/i);
      return answer.text();
    };
    await ask('de');
    const german = await ask('de');
    assert.match(german, /"de"/);
    assert.match(await ask('fr'), /"fr"/);
    assert.equal(await ask('de'), german);
    assert.equal(app.cache.stats.hits, 1);
    await app.stop();
  });

  it('believes a function that says how long an answer is good for', async () => {
    @Controller()
    class TtlController {
      @Get('ttl/:ms')
      @JsonCache({ ttl: (_request, value) => (value as { ms: number }).ms })
      ttl(@Param('ms') ms: string): object {
        return { ms: Number(ms), run: (runs += 1) };
      }
    }
    const app = await startApp(framework, [TtlController]);
    assert.notEqual(await app.text('/ttl/0'), await app.text('/ttl/0'));
    assert.equal(await app.text('/ttl/60000'), await app.text('/ttl/60000'));
    await app.stop();
  });

  it('tells two hosts of one URL apart', async () => {
    @Controller({ path: 'hosted', host: ':name.test' })
    class HostedController {
      @Get()
      @JsonCache()
      get(@HostParam('name') name: string): object {
        return { name };
      }
    }
    const app = await startApp(framework, [HostedController]);
    for (let i = 0; i < 2; i++) {
      for (const name of ['a', 'b']) {
        const sent = request(`${app.url}/hosted`, {
          headers: { host: `${name}.test` },
          agent: false,
        }).end();
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        assert.equal(await text(response), `{"name":"${name}"}`);
      }
    }
    assert.equal(app.cache.stats.hits, 2);
    await app.stop();
  });

  it('tells two versions of one handler apart', async () => {
    @Controller({ path: 'both', version: ['1', '2'] })
    class BothController {
      @Get()
      @JsonCache()
      get(@Headers('x-version') version: string): object {
        return { version };
      }
    }
    const app = await startApp(framework, [BothController], {}, (nest) =>
      nest.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
    );
    for (let i = 0; i < 2; i++) {
      for (const version of ['1', '2']) {
        const answer = await app.text('/both', { headers: { 'x-version': version } });
        assert.equal(answer, `{"version":"${version}"}`);
      }
    }
    assert.equal(app.cache.stats.hits, 2);
    await app.stop();
  });

  it('tells two header versions of one URL apart', async () => {
    @Controller({ path: 'versioned', version: '1' })
    class FirstController {
      @Get()
      @JsonCache()
      get(): object {
        return { version: 1 };
      }
    }
    @Controller({ path: 'versioned', version: '2' })
    class SecondController {
      @Get()
      @JsonCache()
      get(): object {
        return { version: 2 };
      }
    }
    const app = await startApp(framework, [FirstController, SecondController], {}, (nest) =>
      nest.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
    );
    for (let i = 0; i < 2; i++) {
      assert.equal(
        await app.text('/versioned', { headers: { 'x-version': '1' } }),
        '{"version":1}',
      );
      assert.equal(
        await app.text('/versioned', { headers: { 'x-version': '2' } }),
        '{"version":2}',
      );
    }
    assert.equal(app.cache.stats.hits, 2);
    await app.stop();
  });
});

describe('@JsonCache', () => {
  for (const ttl of [0, -5, 1.5, Number.NaN]) {
    it(`refuses a ttl of ${ttl} where it is written`, () => {
      assert.throws(() => JsonCache({ ttl }), {
        code: 'ERR_REDLINE_CACHE_OPTION',
        message: /The option ttl must/,
      });
      assert.throws(() => JsonCacheModule.forRoot({ ttl }), { code: 'ERR_REDLINE_CACHE_OPTION' });
    });
  }

  for (const [option, value] of [
    ['key', 5],
    ['identify', 'private'],
    ['identify', {}],
    ['identify', { header: 5 }],
    ['vary', 'accept-language'],
    ['query', 'page'],
    ['tags', 'articles'],
    ['cookies', 'none'],
    ['early', 'yes'],
    ['cache', 5],
  ] as const) {
    it(`refuses ${inspect(value)} for ${option} of a route`, () => {
      assert.throws(() => JsonCache({ [option]: value } as object), {
        code: 'ERR_REDLINE_CACHE_OPTION',
        message: new RegExp(`^The option ${option} of @JsonCache must be .*; got `),
      });
    });
  }

  for (const [option, value] of [
    ['hosts', 'api.example'],
    ['cookies', 'none'],
    ['headers', 'etag'],
    ['headers', ['x-powered-by']],
    ['keyPrefix', 5],
    ['logger', 'console'],
    ['trackBy', 'x'],
    ['runOnHits', ['x']],
    ['runOnHits', 'LoggingInterceptor'],
    ['caches', 5],
    ['caches', ['catalog']],
  ] as const) {
    it(`refuses ${inspect(value)} for ${option}`, () => {
      assert.throws(() => JsonCacheModule.forRoot({ [option]: value } as object), {
        code: 'ERR_REDLINE_CACHE_OPTION',
        message: new RegExp(`^The option ${option} of JsonCacheModule must be .*; got `),
      });
    });
  }

  it('refuses a wrong value in one of several caches, and of the options of every route', () => {
    const refused = (options: unknown, message: RegExp): void =>
      assert.throws(() => JsonCacheModule.forRoot(options as never), {
        code: 'ERR_REDLINE_CACHE_OPTION',
        message,
      });
    refused(
      { caches: { catalog: { keyPrefix: 5 } } },
      /^The option keyPrefix of the cache catalog /,
    );
    refused(
      { caches: { catalog: { ttl: '5' } } },
      /^The option ttl of the cache catalog .* '5'\.$/,
    );
    refused(
      { caches: { catalog: 5 } },
      /^The options of the cache catalog must be an object; got 5/,
    );
    refused({ timeoutMs: '250' }, /^The option timeoutMs must be .*; got '250'\.$/);
    refused(
      { everyRoute: 5000 },
      /^The options of everyRoute of JsonCacheModule must be an object/,
    );
    refused(5000, /^The options of JsonCacheModule must be an object; got 5000\.$/);
    assert.throws(() => JsonCache(5000 as never), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message: 'The options of @JsonCache must be an object; got 5000.',
    });
  });

  it('refuses a factory that is not one, and what a factory makes, too', async () => {
    const code = 'ERR_REDLINE_CACHE_OPTION';
    assert.throws(() => JsonCacheModule.forRootAsync({ useFactory: {} as never }), {
      code,
      message:
        /^The option useFactory of JsonCacheModule\.forRootAsync must be a function .*; got \{\}/,
    });
    assert.throws(() => JsonCacheModule.forRootAsync({ isGlobal: true } as never), {
      code,
      message: /^Unknown option "isGlobal" of JsonCacheModule\.forRootAsync\./,
    });
    const made = JsonCacheModule.forRootAsync({ useFactory: () => ({ trackBy: 'x' }) as never });
    await assert.rejects(startApp('fastify', [], made), {
      code,
      message:
        /^The option trackBy of JsonCacheModule must be a function that returns a key; got 'x'/,
    });
  });

  it('refuses a client where a store belongs, when the app starts', async () => {
    const method = (): void => {};
    class Redis {
      readonly status = 'ready';
      readonly get = method;
      readonly set = method;
      readonly del = method;
    }
    await assert.rejects(startApp('fastify', [], { store: new Redis() as never }), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message: /^The option store must have get, set and delete, as .*; got Redis\.$/,
    });
  });

  it('refuses an option that is not there', () => {
    const code = 'ERR_REDLINE_CACHE_OPTION';
    assert.throws(() => JsonCache({ ttlMs: 5 } as never), {
      code,
      message:
        'Unknown option "ttlMs" of @JsonCache. Known options: ttl, stale, early, renew, patience, tags, vary, identify, key, query, cookies, reads, compress, at, guards, cache.',
    });
    assert.throws(() => JsonCacheModule.forRoot({ ttlMs: 5 } as never), {
      code,
      message: /Unknown option "ttlMs" of JsonCacheModule\. Known options: store, ttl, /,
    });
  });

  it('says once, at the start, on which routes it does nothing', async (t) => {
    @Controller('files')
    class TakenController {
      @Get(':id')
      @JsonCache()
      send(@Res() response: { send(body: unknown): void }): void {
        response.send({});
      }
    }
    const warn = t.mock.method(Logger.prototype, 'warn', () => {});
    const app = await startApp('fastify', [TakenController]);
    await app.text('/files/1');
    await app.text('/files/2');
    await app.stop();
    assert.deepEqual(
      warn.mock.calls.map((call) => call.arguments[0]),
      [
        '@JsonCache does nothing on GET /files/:id (TakenController.send): it takes the response over with @Res() or @Next().',
      ],
    );
  });
});

describe('JsonCacheModule that is missing, or there twice', () => {
  const start = (imports: DynamicModule[]): Promise<unknown> => {
    @Module({ imports, controllers: [RunsController] })
    class AppModule {}
    return NestFactory.create(AppModule, { logger: false, abortOnError: false });
  };

  it('is an error with what to do', async () => {
    await assert.rejects(start([]), {
      code: 'ERR_REDLINE_CACHE_MODULE',
      message: /^@JsonCache needs the cache of JsonCacheModule: add JsonCacheModule\.forRoot\(\)/,
    });
    await assert.rejects(start([JsonCacheModule.forRoot(), JsonCacheModule.forRoot()]), {
      code: 'ERR_REDLINE_CACHE_MODULE',
      message: /^JsonCacheModule is imported more than once/,
    });
  });
});

describe('@JsonCache on what is not a route', () => {
  class Resolver {
    @JsonCache()
    article(): object {
      return {};
    }
  }
  Injectable()(Resolver);
  @Controller()
  class MessageController {
    @JsonCache()
    message(): object {
      return {};
    }
  }
  for (const [what, metadata] of [
    ['Resolver.article', { providers: [Resolver] }],
    ['MessageController.message', { controllers: [MessageController] }],
  ] as const) {
    it(`is refused when the app starts: ${what}`, async () => {
      @Module({ imports: [JsonCacheModule.forRoot()], ...(metadata as object) })
      class AppModule {}
      const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
      await assert.rejects(app.init(), {
        code: 'ERR_REDLINE_CACHE_PLACE',
        message: new RegExp(`^@JsonCache is on ${what}, which is not an HTTP route`),
      });
      await app.close();
    });
  }
});

describe('The error codes of the guide', () => {
  it('are those the module and the cache know, each with its sentence', () => {
    const guide = readFileSync(
      new URL('../../../../docs/guide/json-cache.md', import.meta.url),
      'utf8',
    );
    const rows = [...guide.matchAll(/^\| `(ERR_REDLINE_\w+)` \| (.+?) \|/gm)].map(
      ([, code, sentence]) => [code, sentence],
    );
    assert.deepEqual(Object.fromEntries(rows), { ...cacheErrorDocs, ...jsonCacheErrorDocs });
  });
});
