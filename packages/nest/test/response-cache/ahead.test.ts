import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { it, type TestContext } from 'node:test';

import {
  Controller,
  type DynamicModule,
  Get,
  Inject,
  Injectable,
  type MiddlewareConsumer,
  Module,
  Scope,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { JsonCache } from '@redline/nest';

import { linesOf, onBothFrameworks, startApp, type Framework, type TestApp } from './harness.js';

const shops = new AsyncLocalStorage<unknown>();
let runs = 0;

@Controller()
class OfMiddleware {
  @Get('shop')
  @JsonCache()
  shop(): object {
    return { shop: shops.getStore(), run: (runs += 1) };
  }
}

@Module({ controllers: [OfMiddleware] })
class WithMiddleware {
  configure(consumer: MiddlewareConsumer): void {
    const use = (request: any, _response: unknown, next: () => void): void =>
      shops.run(request.headers['shop-id'], next);
    consumer.apply(use).forRoutes('{*path}');
  }
}

@Injectable({ scope: Scope.REQUEST })
class Shop {
  readonly id: unknown;
  readonly ip: unknown;

  constructor(@Inject(REQUEST) request: any) {
    this.id = request.headers['shop-id'];
  }
}

@Injectable({ scope: Scope.REQUEST })
class Visitor {
  readonly ip: unknown;

  constructor(@Inject(REQUEST) request: any) {
    this.ip = request.ip;
  }
}

@Controller()
class OfProvider {
  constructor(readonly shop: Shop) {}

  @Get('shop')
  @JsonCache()
  read(): object {
    return { shop: this.shop.id, run: (runs += 1) };
  }
}

@Controller()
class OfVisitor {
  constructor(readonly visitor: Visitor) {}

  @Get('shop')
  @JsonCache()
  read(): object {
    return { ip: this.visitor.ip, run: (runs += 1) };
  }
}

@Injectable()
class ShopGuard {
  canActivate(context: any): boolean {
    const request = context.switchToHttp().getRequest();
    return request.headers['shop-id'] !== 'closed';
  }
}

@Controller()
class Guarded {
  @Get('shop')
  @UseGuards(ShopGuard)
  @JsonCache({ identify: 'public' })
  shop(): object {
    return { run: (runs += 1) };
  }
}

onBothFrameworks('What is read ahead of the cache', (framework) => {
  for (const [by, controllers, module] of [
    ['by Nest’s middleware, for an AsyncLocalStorage', [], { module: WithMiddleware }],
    ['by the constructor of a provider of the request', [OfProvider], { providers: [Shop] }],
  ] as const) {
    it(`is part of the key: ${by}`, async (t) => {
      const warnings = linesOf(t, 'warn');
      const { ask } = await start(t, framework, [...controllers], module);
      for (const shop of ['a', 'b', 'a', 'b']) assert.equal((await ask(shop)).shop, shop);
      assert.deepEqual(await ask('a'), await ask('a'));
      assert.equal(warnings.length, 1);
      assert.match(warnings[0]!, /reads the request header shop-id ahead of it/);
    });
  }

  it('keeps the response from being shared: the address, by such a constructor', async (t) => {
    const warnings = linesOf(t, 'warn');
    const { ask } = await start(t, framework, [OfVisitor], { providers: [Visitor] });
    assert.notEqual((await ask('a')).run, (await ask('a')).run);
    assert.match(warnings.join(), /a provider of its request reads the address of the client/);
  });

  it('is listed: by a guard, of a route that says whom its responses are for', async (t) => {
    const { ask, cache } = await start(t, framework, [Guarded], {});
    assert.deepEqual(await ask('a'), await ask('b'));
    const [reads] = Object.values(cache.reads);
    assert.match(reads!.join(), /the header shop-id, ahead of the cache in .*ahead\.test\.js/);
  });
});

async function start(
  t: TestContext,
  framework: Framework,
  controllers: Array<Type<unknown>>,
  { module, providers = [] }: { module?: Type<unknown>; providers?: readonly Type<unknown>[] },
): Promise<TestApp & { ask(shop: string): Promise<any> }> {
  @Module({})
  class More {}
  const more: DynamicModule = {
    module: More,
    global: true,
    imports: module === undefined ? [] : [module],
    providers: [...providers],
    exports: [...providers],
  };
  const app = await startApp(framework, controllers, {}, undefined, undefined, more);
  t.after(() => app.stop());
  return {
    ...app,
    ask: async (shop) => JSON.parse(await app.text('/shop', { headers: { 'shop-id': shop } })),
  };
}
