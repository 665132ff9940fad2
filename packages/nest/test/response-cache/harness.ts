import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext } from 'node:test';
import {
  Logger,
  Module,
  type DynamicModule,
  type INestApplication,
  type Type,
} from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { JsonCacheModule, JsonCacheService, type JsonCacheModuleOptions } from '@redline/nest';

export { until } from '@redline/services/until';

export type Framework = 'fastify' | 'express';

export interface TestApp {
  readonly app: INestApplication;
  readonly cache: JsonCacheService;
  readonly url: string;
  /** What the cache has logged. */
  readonly lines: string[];
  fetch(path: string, init?: RequestInit): Promise<Response>;
  text(path: string, init?: RequestInit): Promise<string>;
  stop(): Promise<void>;
}

/** The same sentences for both frameworks. */
export function onBothFrameworks(what: string, suite: (framework: Framework) => void): void {
  for (const framework of ['fastify', 'express'] as const) {
    describe(`${what}, on ${framework}`, () => suite(framework));
  }
}

export async function startApp(
  framework: Framework,
  controllers: Array<Type<unknown>>,
  options: JsonCacheModuleOptions | DynamicModule = {},
  prepare: (app: INestApplication) => void = () => {},
  adapter: AbstractHttpAdapter = framework === 'fastify'
    ? new FastifyAdapter()
    : new ExpressAdapter(),
  more?: DynamicModule,
): Promise<TestApp> {
  const lines: string[] = [];
  const logger = {
    warn: (line: string) => void lines.push(`warn ${line}`),
    log: (line: string) => void lines.push(`log ${line}`),
  };
  const cacheModule =
    'module' in options ? options : JsonCacheModule.forRoot({ logger, hosts: 'any', ...options });
  @Module({ imports: more === undefined ? [cacheModule] : [cacheModule, more], controllers })
  class AppModule {}

  const app: INestApplication = await NestFactory.create(AppModule, adapter, {
    logger: false,
    abortOnError: false,
  });
  prepare(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const fetchPath = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(url + path, init);
  return {
    app,
    cache: app.get(JsonCacheService),
    url,
    lines,
    fetch: fetchPath,
    text: async (path, init) => (await fetchPath(path, init)).text(),
    async stop() {
      const closed = once(app.getHttpServer(), 'close');
      app.getHttpServer().closeAllConnections();
      await app.close();
      await closed;
    },
  };
}

/** What Nest's own Logger is given, at one level, from now to the end of the test. */
export function linesOf(t: TestContext, level: 'warn' | 'log' | 'error'): string[] {
  const lines: string[] = [];
  t.mock.method(Logger.prototype, level, (line: unknown) => void lines.push(String(line)));
  return lines;
}
