// Deferred work on each of the frameworks, for tests that ask it over HTTP.
// Each framework is loaded only where it is asked for: apps in processes of their own start again and again.
import { once } from 'node:events';
import { cpSync, readdirSync, renameSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createDefer, type DeferOptions, type Deferrer } from '@redline/defer';
import { temporaryFolder } from '../packages/defer/test/harness.ts';

export interface App {
  readonly url: string;
  readonly deferrer: Deferrer;
  stop(): Promise<void>;
}

/** What a request defers, of what stands in its path. */
export type Take = (level: string, when: string, data: string) => unknown;

async function listening(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startNest(adapter: object, options: DeferOptions, take: Take): Promise<App> {
  await import('reflect-metadata');
  const [{ Controller, Get, Param }, { NestFactory }, { DeferModule, DeferService }] =
    await Promise.all([import('@nestjs/common'), import('@nestjs/core'), import('@redline/nest')]);
  class Jobs {
    async take(level: string, when: string, data: string): Promise<object> {
      await take(level, when, data);
      return { data };
    }
  }
  const own = Object.getOwnPropertyDescriptor(Jobs.prototype, 'take')!;
  Get('/:level/:when/:data')(Jobs.prototype, 'take', own);
  for (const [place, name] of ['level', 'when', 'data'].entries()) {
    Param(name)(Jobs.prototype, 'take', place);
  }
  Controller()(Jobs);
  const root = {
    module: Jobs,
    imports: [DeferModule.forRoot({ sink: 'test', ...options })],
    controllers: [Jobs],
  };
  const app = await NestFactory.create(root, adapter as never, {
    logger: false,
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer() as Server;
  return {
    url: await listening(server),
    deferrer: app.get(DeferService).deferrer,
    async stop() {
      server.closeAllConnections();
      await app.close();
    },
  };
}

/** `GET /:level/:when/:data` of each. */
export const apps: Record<string, (options: DeferOptions, take: Take) => Promise<App>> = {
  async Fastify(options, take) {
    const [{ fastify }, { fastifyDefer }] = await Promise.all([
      import('fastify'),
      import('@redline/defer/fastify'),
    ]);
    const deferrer = createDefer(options);
    const app = fastify({ forceCloseConnections: true });
    await app.register(fastifyDefer, { deferrer });
    app.get<{ Params: Record<'level' | 'when' | 'data', string> }>(
      '/:level/:when/:data',
      async ({ params: { level, when, data } }) => {
        await take(level, when, data);
        return { data };
      },
    );
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, deferrer, stop: () => app.close() };
  },
  async Express(options, take) {
    const [{ default: express }, { expressDefer }] = await Promise.all([
      import('express'),
      import('@redline/defer/express'),
    ]);
    const deferrer = createDefer(options);
    const app = express();
    // It prints each refusal elsewhere.
    app.set('env', 'test');
    app.use(expressDefer(deferrer));
    app.get('/:level/:when/:data', async ({ params: { level, when, data } }, response) => {
      await take(level, when, data);
      response.json({ data });
    });
    const server = app.listen(0, '127.0.0.1');
    return {
      url: await listening(server),
      deferrer,
      async stop() {
        server.closeAllConnections();
        server.close();
        await deferrer.close();
      },
    };
  },
  async 'Nest on Fastify'(options, take) {
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    return startNest(new FastifyAdapter(), options, take);
  },
  async 'Nest on Express'(options, take) {
    const { ExpressAdapter } = await import('@nestjs/platform-express');
    return startNest(new ExpressAdapter(), options, take);
  },
};

/** One framework of each adapter in `npm test`; the exhaustive tests ask for all. */
export const chosenApps = Object.entries(apps).filter(
  ([name]) =>
    process.env['REDLINE_APPS'] === 'all' || name === 'Fastify' || name === 'Nest on Express',
);

/** What a process that is killed now leaves to the next one. */
export function leftBy(t: TestContext, directory: string): string {
  const copy = temporaryFolder(t);
  // Sockets cannot be copied.
  cpSync(directory, copy, { recursive: true, filter: (from) => !from.endsWith('.alive') });
  for (const name of readdirSync(copy).filter((each) => each.includes('~'))) {
    renameSync(join(copy, name), join(copy, `${name.split('~')[0]!}~free`));
  }
  return copy;
}
