// The four frameworks, each loaded only where it is asked for: a process that is killed has little time for the others.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDefer, type Deferrer, type DeferOptions } from '@redline/defer';

export const platforms = ['fastify', 'express', 'nest on fastify', 'nest on express'] as const;
export type Platform = (typeof platforms)[number];

/** By their paths, what the handlers do. */
export type Routes = Readonly<Record<string, (params: Record<string, string>) => object>>;

export interface Running {
  readonly url: string;
  readonly deferrer: Deferrer;
}

const starts: Record<Platform, (options: DeferOptions, routes: Routes) => Promise<Running>> = {
  fastify: startFastify,
  express: startExpress,
  async 'nest on fastify'(options, routes) {
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    return startNest(new FastifyAdapter(), options, routes);
  },
  async 'nest on express'(options, routes) {
    const { ExpressAdapter } = await import('@nestjs/platform-express');
    return startNest(new ExpressAdapter(), options, routes);
  },
};

export function startOn(
  platform: Platform,
  options: DeferOptions,
  routes: Routes,
): Promise<Running> {
  return starts[platform](options, routes);
}

async function startFastify(options: DeferOptions, routes: Routes): Promise<Running> {
  const [{ fastify }, { fastifyDefer }] = await Promise.all([
    import('fastify'),
    import('@redline/defer/fastify'),
  ]);
  const deferrer = createDefer(options);
  const app = fastify();
  for (const [path, answer] of Object.entries(routes)) {
    app.get<{ Params: Record<string, string> }>(path, async ({ params }) => answer(params));
  }
  // Jobs are taken as soon as there is a port; what is orphaned is adopted meanwhile, and may be cut off by the next kill.
  await app.register(fastifyDefer, { deferrer });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), deferrer };
}

async function startExpress(options: DeferOptions, routes: Routes): Promise<Running> {
  const [{ default: express }, { expressDefer }] = await Promise.all([
    import('express'),
    import('@redline/defer/express'),
  ]);
  const deferrer = createDefer(options);
  const app = express();
  app.use(expressDefer(deferrer));
  for (const [path, answer] of Object.entries(routes)) {
    app.get(path, ({ params }, response) => {
      response.json(answer(params as Record<string, string>));
    });
  }
  return { url: await urlOf(app.listen(0, '127.0.0.1')), deferrer };
}

async function startNest(adapter: object, options: DeferOptions, routes: Routes): Promise<Running> {
  await import('reflect-metadata');
  const [{ Controller, Get, Param }, { NestFactory }, { DeferModule, DeferService }] =
    await Promise.all([import('@nestjs/common'), import('@nestjs/core'), import('@redline/nest')]);
  class Answers {
    readonly paths = Object.keys(routes);
  }
  for (const [path, answer] of Object.entries(routes)) {
    const handler = { value: answer, configurable: true, writable: true };
    Object.defineProperty(Answers.prototype, path, handler);
    Get(path)(Answers.prototype, path, handler);
    Param()(Answers.prototype, path, 0);
  }
  Controller()(Answers);
  const root = {
    module: Answers,
    imports: [DeferModule.forRoot(options)],
    controllers: [Answers],
  };
  const app = await NestFactory.create(root, adapter as never, {
    logger: false,
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  const { deferrer } = app.get(DeferService);
  return { url: await urlOf(app.getHttpServer() as Server), deferrer };
}

async function urlOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
