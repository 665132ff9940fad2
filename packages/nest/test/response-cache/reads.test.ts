import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';

import {
  Controller,
  type DynamicModule,
  Get,
  Headers,
  Injectable,
  Ip,
  Req,
  type Type,
} from '@nestjs/common';
import {
  JsonCache,
  LoggerModule,
  PinoLogger,
  unobserved,
  type JsonCacheModuleOptions,
} from '@redline/nest';
import { LoggerModule as CompatibleModule } from '@redline/nest/nestjs-pino';

import { linesOf, onBothFrameworks, startApp, type Framework, type TestApp } from './harness.js';

let runs = 0;

@Controller()
class Reading {
  @Get('named')
  @JsonCache()
  named(@Headers('tenant-id') tenant: string): object {
    return { tenant, run: (runs += 1) };
  }

  @Get('all')
  @JsonCache()
  all(@Headers() headers: Record<string, string>): object {
    return { tenant: { ...headers }['tenant-id'], run: (runs += 1) };
  }

  @Get('peer')
  @JsonCache()
  peer(@Ip() ip: string): object {
    return { ip, run: (runs += 1) };
  }

  @Get('nothing')
  @JsonCache()
  nothing(): object {
    return { run: (runs += 1) };
  }

  @Get('public')
  @JsonCache({ identify: 'public' })
  public(@Headers('tenant-id') tenant: string): object {
    return { has: tenant !== undefined, run: (runs += 1) };
  }

  @Get('elsewhere')
  @JsonCache()
  elsewhere(@Req() request: { headers: object }): object {
    const length = unobserved(() => JSON.stringify(request.headers).length);
    return { isLogged: length > 0, run: (runs += 1) };
  }
}

@Injectable()
@Controller()
class Logging {
  constructor(readonly logger: PinoLogger) {}

  @Get('logged')
  @JsonCache()
  logged(@Req() request: object): object {
    this.logger.info({ req: request }, 'with all headers');
    return { run: (runs += 1) };
  }
}

const stream = { write(): void {} };

onBothFrameworks('What a handler reads', (framework) => {
  it('is part of the key, or keeps the response from being shared, and is listed', async (t) => {
    const warnings = linesOf(t, 'warn');
    const { text, cache } = await start(t, framework, [Reading]);
    const as = (tenant: string): RequestInit => ({ headers: { 'tenant-id': tenant } });
    const ask = async (path: string, tenant: string): Promise<any> =>
      JSON.parse(await text(path, as(tenant)));
    await ask('/named', 'a');
    const [a, b] = [await ask('/named', 'a'), await ask('/named', 'b')];
    assert.deepEqual([a.tenant, b.tenant], ['a', 'b']);
    assert.deepEqual([await ask('/named', 'a'), await ask('/named', 'b')], [a, b]);
    for (const tenant of ['a', 'b', 'a']) assert.equal((await ask('/all', tenant)).tenant, tenant);
    assert.notEqual((await ask('/peer', 'a')).run, (await ask('/peer', 'a')).run);
    for (const path of ['/nothing', '/public', '/elsewhere'])
      assert.deepEqual(await ask(path, 'a'), await ask(path, 'b'), path);
    const all = cache.reads['GET /all (Reading.all)']!;
    assert.ok(all.includes('all headers'));
    assert.deepEqual(cache.reads, {
      'GET /named (Reading.named)': ['the header tenant-id'],
      'GET /all (Reading.all)': all,
      // Express looks for the address in a header of proxies first.
      'GET /peer (Reading.peer)':
        framework === 'fastify'
          ? ['the address of the client']
          : ['the address of the client', 'the header x-forwarded-for'],
      'GET /nothing (Reading.nothing)': [],
      'GET /public (Reading.public)': ['the header tenant-id'],
      'GET /elsewhere (Reading.elsewhere)': [],
    });
    assert.equal(warnings.length, 3);
    assert.match(
      warnings[0]!,
      /^A response of GET \/named \(Reading\.named\) goes out uncached: its handler reads the request header tenant-id, which is part of the key from now on\.$/,
    );
  });

  for (const [name, module] of [
    ['LoggerModule', LoggerModule.forRoot({ destination: stream })],
    ['the compatible module', CompatibleModule.forRoot({ pinoHttp: { stream } })],
  ] as const) {
    it(`does not include what ${name} writes during the request`, async (t) => {
      const { text, cache } = await start(t, framework, [Logging], module);
      assert.equal(await text('/logged'), await text('/logged'));
      assert.deepEqual(cache.reads, { 'GET /logged (Logging.logged)': [] });
    });
  }
});

async function start(
  t: TestContext,
  framework: Framework,
  controllers: Array<Type<unknown>>,
  more?: DynamicModule,
): Promise<TestApp> {
  const options: JsonCacheModuleOptions = {};
  const app = await startApp(framework, controllers, options, undefined, undefined, more);
  t.after(() => app.stop());
  return app;
}
