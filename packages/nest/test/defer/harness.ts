import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe } from 'node:test';
import { Module, type INestApplication, type Provider, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Delivery, Sink } from '@redline/defer';
import { DeferModule, DeferService, type DeferModuleOptions } from '@redline/nest';

export { until } from '@redline/services/until';

export type Framework = 'fastify' | 'express';

/** The same sentences for both frameworks. */
export function onBothFrameworks(what: string, suite: (framework: Framework) => void): void {
  for (const framework of ['fastify', 'express'] as const) {
    describe(`${what}, on ${framework}`, () => suite(framework));
  }
}

/** Keeps what it gets. */
export class Received implements Sink {
  readonly kind = 'received';
  readonly deliveries: Delivery[] = [];

  async send(batch: readonly Delivery[]): Promise<void> {
    this.deliveries.push(...batch);
  }

  get data(): unknown[] {
    return this.deliveries.map(({ json }) => JSON.parse(json));
  }
}

export interface TestApp {
  readonly app: INestApplication;
  readonly url: string;
  readonly defer: DeferService;
  stop(): Promise<void>;
}

export async function startApp(
  framework: Framework,
  controllers: Array<Type<unknown>>,
  options: DeferModuleOptions,
  providers: Provider[] = [],
): Promise<TestApp> {
  @Module({
    imports: [DeferModule.forRoot({ logger: false, handleSignals: false, ...options })],
    controllers,
    providers,
  })
  class AppModule {}

  const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app: INestApplication = await NestFactory.create(AppModule, adapter, {
    logger: false,
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    url: `http://127.0.0.1:${port}`,
    defer: app.get(DeferService),
    async stop() {
      const closed = once(app.getHttpServer(), 'close');
      app.getHttpServer().closeAllConnections();
      await app.close();
      await closed;
    },
  };
}
