// The frameworks whose handlers meet the engine's messages: each hands every request on to a listener, as a middleware.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { HttpModule } from '../conformance/engine.ts';

/** A handler of the framework that calls the listener. */
export type Framework = (listener: RequestListener) => RequestListener;

type Use = (middleware: RequestListener) => void;
type ExpressApp = RequestListener & { use: Use; set(name: string, value: unknown): void };
type KoaApp = {
  silent: boolean;
  use(middleware: (context: KoaContext) => unknown): void;
  callback(): RequestListener;
};
type KoaContext = { req: IncomingMessage; res: ServerResponse; respond: boolean };
type Middie = { use: Use; run: RequestListener };

const require = createRequire(import.meta.url);
const Koa = require('koa') as new () => KoaApp;
const fastifyExpress = require('@fastify/express') as FastifyPluginAsync;
const Fastify = require('fastify') as (options: object) => FastifyInstance & { use: Use };
const middie = require('@fastify/middie/lib/engine.js') as (done: () => void) => Middie;

/** The listener of each request, where one app serves all. */
const listeners = new WeakMap<IncomingMessage, RequestListener>();
const handOn: RequestListener = (request, response) => listeners.get(request)!(request, response);
const sharing =
  (handler: RequestListener): Framework =>
  (listener) =>
  (request, response) => {
    listeners.set(request, listener);
    handler(request, response);
  };

export const frameworks: Record<string, () => Promise<Framework>> = {
  'Express 5': async () => express('express'),
  'Express 4': async () => express('express-4'),
  'an Express app within another of Express 4': async () => (listener) => {
    const outer = expressApp('express-4');
    outer.use(express('express')(listener));
    return outer;
  },
  Koa: async () => (listener) => {
    const app = new Koa();
    app.silent = true;
    app.use((context) => {
      context.respond = false;
      return listener(context.req, context.res as never);
    });
    return app.callback();
  },
  middie: async () => (listener) => {
    const engine = middie(() => {});
    engine.use(listener);
    return engine.run;
  },
  'Fastify with @fastify/express': async () => {
    const app = Fastify({ logger: false });
    await app.register(fastifyExpress);
    app.use(handOn);
    await app.ready();
    return sharing((request, response) => app.routing(request, response));
  },
  'Nest on Express': async () => {
    const app = await nest(new ExpressAdapter());
    return sharing(app.getHttpAdapter().getInstance());
  },
  'Nest on Fastify': async () => {
    const app = await nest(new FastifyAdapter());
    const instance = app.getHttpAdapter().getInstance();
    await instance.ready();
    return sharing((request, response) => instance.routing(request, response));
  },
};

/** `node:http` or the engine, with every listener below a framework. */
export function under(framework: Framework, http: HttpModule): HttpModule {
  const createServer = (...given: unknown[]): unknown =>
    (http.createServer as (...given: unknown[]) => unknown)(
      ...given.map((one) => (typeof one === 'function' ? framework(one as RequestListener) : one)),
    );
  return { createServer } as HttpModule;
}

function express(name: string): Framework {
  return (listener) => {
    const app = expressApp(name);
    app.use(listener);
    return app;
  };
}

function expressApp(name: string): ExpressApp {
  const app = (require(name) as () => ExpressApp)();
  // Its own answer to an error shows the stack, and the names of our classes in it.
  app.set('env', 'production');
  return app;
}

// eslint-disable-next-line typescript/no-extraneous-class -- a module of Nest is a class
class Empty {}
Module({})(Empty);

async function nest(adapter: ExpressAdapter | FastifyAdapter): Promise<INestApplication> {
  const app = await NestFactory.create(Empty, adapter as never, {
    logger: false,
    bodyParser: false,
  });
  app.use(handOn);
  return await app.init();
}
