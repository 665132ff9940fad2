import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import {
  ClassSerializerInterceptor,
  Controller,
  Get,
  HostParam,
  Injectable,
  Logger,
  Module,
  Res,
  StandardSchemaSerializerInterceptor,
  UseInterceptors,
  VersioningType,
  type CallHandler,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  JsonCache,
  JsonCacheModule,
  jsonCacheErrorDocs,
  memoryStore,
  type JsonCacheModuleOptions,
} from '@redline/nest';
import { cacheErrorDocs } from '@redline/response-cache';
import { map, type Observable } from 'rxjs';
import { onBothFrameworks, startApp } from './harness.ts';

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

/* With a stand-in for class-transformer, which is not installed here. */
function useClassSerializer(app: INestApplication): void {
  const transformerPackage = {
    classToPlain: (value: unknown) => value,
    plainToInstance: (_type: unknown, value: unknown) => value,
  };
  app.useGlobalInterceptors(
    new ClassSerializerInterceptor(new Reflector(), { transformerPackage } as never),
  );
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
      }),
    });
    const app = await startApp(framework, [RunsController], cacheModule);
    const answer = await app.text('/runs');
    assert.equal(await app.text('/runs'), answer);
    assert.equal(store.get('shop:public:/runs'), `${answer}\t\r\t`);
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

  it('refuses to start where a serializer of the app or the controller would meet the text', async () => {
    @Controller()
    @UseInterceptors(StandardSchemaSerializerInterceptor)
    class SerializedController extends RunsController {}
    await assert.rejects(startApp(framework, [SerializedController]), {
      code: 'ERR_REDLINE_CACHE_SERIALIZER',
      message:
        /^GET \/runs \(SerializedController\.runs\) is cached as JSON text, which StandardSchemaSerializerInterceptor of its controller cannot/,
    });
    const serialized = startApp(framework, [RunsController], {}, useClassSerializer);
    await assert.rejects(serialized, {
      code: 'ERR_REDLINE_CACHE_SERIALIZER',
      message: /which ClassSerializerInterceptor of the app cannot/,
    });
  });

  it('starts where the method has the serializer, too', async () => {
    @Controller()
    class MethodController {
      @Get('method')
      @JsonCache()
      @UseInterceptors(StandardSchemaSerializerInterceptor)
      get(): object {
        return { serialized: true };
      }
    }
    const app = await startApp(framework, [MethodController], {}, useClassSerializer);
    assert.equal(await app.text('/method'), '{"serialized":true}');
    assert.equal(await app.text('/method'), '{"serialized":true}');
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

  it('refuses an option that is not there', () => {
    const code = 'ERR_REDLINE_CACHE_OPTION';
    assert.throws(() => JsonCache({ ttlMs: 5 } as never), {
      code,
      message: '@JsonCache has no option "ttlMs"; there are ttl, key, identify.',
    });
    assert.throws(() => JsonCacheModule.forRoot({ ttlMs: 5 } as never), {
      code,
      message: /JsonCacheModule has no option "ttlMs"; there are store, ttl, /,
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
