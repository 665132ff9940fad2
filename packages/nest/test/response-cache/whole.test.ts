import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  Controller,
  Get,
  Injectable,
  Module,
  Post,
  Scope,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { JsonCache } from '@redline/nest';
import { map, type Observable } from 'rxjs';
import { onBothFrameworks, startApp, type Framework, type TestApp } from './harness.ts';

let runs = 0;

@Injectable()
class Wrap implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

class Routes {
  @Get('plain')
  plain(): object {
    return { runs: (runs += 1) };
  }

  @Get('wrapped')
  @UseInterceptors(Wrap)
  wrapped(): object {
    return { runs: (runs += 1) };
  }

  @Get('short')
  @JsonCache({ ttl: 60_000, key: 'own' })
  own(): object {
    return { runs: (runs += 1) };
  }

  @Get('out')
  @JsonCache(false)
  out(): object {
    return { runs: (runs += 1) };
  }

  @Post('plain')
  write(): object {
    return { runs: (runs += 1) };
  }
}

@Controller('whole')
@JsonCache({ ttl: 60_000 })
class WholeController extends Routes {}

@Controller('whole')
@JsonCache({ ttl: 60_000 })
@UseInterceptors(Wrap)
class WrappedController extends Routes {}

@Controller('whole')
class PlainController extends Routes {}

@Controller('whole')
@JsonCache(false)
class OutController extends Routes {}

/* Without a decorator of the cache on any method. */
@Controller('simple')
class SimpleController {
  @Get()
  get(): object {
    return { runs: (runs += 1) };
  }
}

@Controller('simple')
@JsonCache({ ttl: 60_000 })
class SimpleCachedController {
  @Get()
  get(): object {
    return { runs: (runs += 1) };
  }
}

@Controller({ path: 'simple', scope: Scope.REQUEST })
class ScopedController {
  @Get()
  get(): object {
    return { runs: (runs += 1) };
  }
}

@Controller()
@JsonCache()
class PostController {
  @Post()
  post(): object {
    return {};
  }
}

/** Which of the routes answer the same twice. */
async function cachedOf(app: TestApp): Promise<string[]> {
  const cached: string[] = [];
  for (const [method, path] of [
    ['GET', 'plain'],
    ['GET', 'wrapped'],
    ['GET', 'short'],
    ['GET', 'out'],
    ['POST', 'plain'],
  ] as const) {
    const first = await app.text(`/whole/${path}`, { method });
    if ((await app.text(`/whole/${path}`, { method })) === first) cached.push(`${method} ${path}`);
  }
  return cached;
}

const all = ['GET plain', 'GET wrapped', 'GET short'];

onBothFrameworks('@JsonCache for more than one route', (framework: Framework) => {
  for (const [name, controller, options, expected] of [
    ['a controller', WholeController, {}, all],
    ['a controller with interceptors', WrappedController, {}, all],
    ['the whole app', PlainController, { everyRoute: { ttl: 60_000 } }, all],
    [
      'the whole app, but for one controller',
      OutController,
      { everyRoute: { ttl: 60_000 } },
      ['GET short'],
    ],
    ['neither', PlainController, {}, ['GET short']],
  ] as const) {
    it(`has every GET route of ${name} answered from the cache, those kept out excepted`, async () => {
      const test = await startApp(framework, [controller], options);
      assert.deepEqual(await cachedOf(test), expected);
      await test.stop();
    });
  }

  it('keeps what interceptors make, also those of a method and of the app', async () => {
    const test = await startApp(framework, [WholeController], {}, (app) => {
      app.useGlobalInterceptors(new Wrap());
    });
    const first = JSON.parse(await test.text('/whole/wrapped'));
    assert.deepEqual(Object.keys(first.data), ['data']);
    assert.deepEqual(JSON.parse(await test.text('/whole/wrapped')), first);
    assert.equal(test.cache.stats.hits, 1);
    await test.stop();
  });

  for (const [name, controller, options] of [
    ['a controller', SimpleCachedController, {}],
    ['the app', SimpleController, { everyRoute: { ttl: 60_000 } }],
    ['an app of request-scoped controllers', ScopedController, { everyRoute: { ttl: 60_000 } }],
  ] as const) {
    it(`caches where only ${name} says so`, async () => {
      for (let started = 0; started < 2; started += 1) {
        const test = await startApp(framework, [controller], options);
        assert.equal(await test.text('/simple'), await test.text('/simple'));
        const { hits, misses } = test.cache.stats;
        assert.deepEqual({ hits, misses }, { hits: 1, misses: 1 });
        await test.stop();
      }
    });
  }

  it('misses its module', async () => {
    @Module({ controllers: [SimpleCachedController] })
    class AppModule {}
    const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
    const options = { logger: false, abortOnError: false } as const;
    const app = NestFactory.create(AppModule, adapter, options);
    await assert.rejects(app, { code: 'ERR_REDLINE_CACHE_MODULE' });
  });

  it('refuses a controller without a GET route', async () => {
    await assert.rejects(startApp(framework, [PostController]), {
      code: 'ERR_REDLINE_CACHE_PLACE',
      message: /PostController, which has no GET route/,
    });
  });

  it('refuses a class that is not a controller', async () => {
    @Injectable()
    @JsonCache()
    class Service {}
    const { JsonCacheModule } = await import('@redline/nest');
    const options = { ...JsonCacheModule.forRoot() };
    options.providers = [...(options.providers ?? []), Service];
    await assert.rejects(startApp(framework, [PlainController], options), {
      code: 'ERR_REDLINE_CACHE_PLACE',
    });
  });
});
