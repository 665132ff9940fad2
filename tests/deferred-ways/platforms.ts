// Apps that lead `POST /WAY/STATUS` to a handler by way of node's request and response, on every framework and both servers.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createEngine, serverFactory } from '@redline/http';
import type { Deferrer, DeferOptions } from '@redline/defer';
import { createDefer } from '@redline/defer';
import { expressDefer } from '@redline/defer/express';
import { fastifyDefer } from '@redline/defer/fastify';

/** Handles a request: calls `answer`, or throws there. */
export type Handle = (
  deferrer: Deferrer,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  answer: (status: number) => void,
) => void;

export interface Started {
  readonly port: number;
  readonly server: Server;
  readonly deferrer: Deferrer;
  close(): Promise<void>;
}

type Start = (options: DeferOptions, handle: Handle) => Promise<Started>;
type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type Serve = (listener: Listener) => Server;

const servers: Record<string, Serve> = {
  node: (listener) => createServer(listener),
  engine: (listener) => createEngine(listener as never) as Server,
};

async function started(
  server: Server,
  deferrer: Deferrer,
  close?: () => unknown,
): Promise<Started> {
  if (!server.listening) await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    server,
    deferrer,
    async close() {
      server.closeAllConnections();
      if (close === undefined) server.close();
      else await close();
      await deferrer.close();
    },
  };
}

async function serve(serveIt: Serve, listener: Listener, deferrer: Deferrer): Promise<Started> {
  return started(serveIt(listener).listen(0, '127.0.0.1'), deferrer);
}

interface ExpressApp {
  (request: IncomingMessage, response: ServerResponse): void;
  set(name: string, value: string): void;
  use(middleware: unknown): void;
  post(path: string, handle: (request: Asked, response: Answering) => void): void;
}

type ExpressModule = () => ExpressApp;
type Asked = IncomingMessage & { url: string };
type Answering = ServerResponse & { status(status: number): { json(body: object): void } };

function onExpress(name: 'express' | 'express-4', serveIt: Serve): Start {
  return async (options, handle) => {
    const { default: express } = (await import(name as string)) as { default: ExpressModule };
    const deferrer = createDefer(options);
    const app = express();
    app.set('env', 'test');
    app.use(expressDefer(deferrer));
    app.post(name === 'express' ? '/*rest' : '/*', (request, response) => {
      handle(deferrer, request.url, request, response, (status) => {
        response.status(status).json({ status });
      });
    });
    return serve(serveIt, app as never, deferrer);
  };
}

function onNode(serveIt: Serve): Start {
  return async (options, handle) => {
    const deferrer = createDefer(options);
    const enter = expressDefer(deferrer);
    const listener: Listener = (request, response) =>
      enter(request, response, () =>
        handle(deferrer, request.url!, request, response, (status) => {
          response.statusCode = status;
          response.end('{}');
        }),
      );
    return serve(serveIt, listener, deferrer);
  };
}

function onKoa(serveIt: Serve): Start {
  return async (options, handle) => {
    const { default: Koa } = (await import('koa' as string)) as { default: new () => KoaApp };
    const deferrer = createDefer(options);
    const enter = expressDefer(deferrer);
    const app = new Koa();
    app.silent = true;
    app.use((context, next) => {
      return new Promise((resolve, reject) => {
        enter(context.req, context.res, () => void next().then(resolve, reject));
      });
    });
    app.use(
      (context) =>
        new Promise<void>((resolve) => {
          handle(deferrer, context.req.url!, context.req, context.res, (status) => {
            context.status = status;
            context.body = { status };
            resolve();
          });
        }),
    );
    return serve(serveIt, app.callback(), deferrer);
  };
}

interface KoaContext {
  req: IncomingMessage;
  res: ServerResponse;
  status: number;
  body: unknown;
}

interface KoaApp {
  silent: boolean;
  use(middleware: (context: KoaContext, next: () => Promise<void>) => Promise<void>): void;
  callback(): Listener;
}

function onHono(serveIt: Serve): Start {
  return async (options, handle) => {
    const [{ Hono }, { getRequestListener }] = await Promise.all([
      import('hono'),
      import('@hono/node-server'),
    ]);
    const deferrer = createDefer(options);
    const enter = expressDefer(deferrer);
    const app = new Hono<{ Bindings: { incoming: IncomingMessage; outgoing: ServerResponse } }>();
    app.post(
      '*',
      (context) =>
        new Promise<Response>((resolve) => {
          const { incoming, outgoing } = context.env;
          handle(deferrer, incoming.url!, incoming, outgoing, (status) => {
            resolve(context.json({ status }, status as 200));
          });
        }),
    );
    const listener = getRequestListener(app.fetch as never, { overrideGlobalObjects: false });
    return serve(
      serveIt,
      (request, response) => enter(request, response, () => void listener(request, response)),
      deferrer,
    );
  };
}

function onFastify(isEngine: boolean): Start {
  return async (options, handle) => {
    const { fastify } = await import('fastify');
    const deferrer = createDefer(options);
    const app = fastify({
      forceCloseConnections: true,
      ...(isEngine && { serverFactory: serverFactory as never }),
    });
    await app.register(fastifyDefer, { deferrer });
    app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
    app.post('/*', (request, reply) => {
      handle(deferrer, request.url, request.raw, reply.raw, (status) => {
        void reply.code(status).send({ status });
      });
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return started(app.server, deferrer, () => app.close());
  };
}

function onNest(platform: 'express' | 'fastify', isEngine: boolean): Start {
  return async (options, handle) => {
    await import('reflect-metadata');
    const [{ Controller, Post, Req, Res }, { NestFactory }, nest] = await Promise.all([
      import('@nestjs/common'),
      import('@nestjs/core'),
      import('@redline/nest'),
    ]);
    interface Reply {
      raw?: ServerResponse;
      status(status: number): { send(body: object): unknown };
    }
    class Ways {
      take(request: IncomingMessage & { raw?: IncomingMessage }, reply: Reply): void {
        const response = reply.raw ?? (reply as unknown as ServerResponse);
        handle(
          app.get(nest.DeferService).deferrer,
          request.url!,
          request.raw ?? request,
          response,
          (status) => {
            reply.status(status).send({ status });
          },
        );
      }
    }
    const take = Object.getOwnPropertyDescriptor(Ways.prototype, 'take')!;
    Post(platform === 'express' ? '*rest' : '*')(Ways.prototype, 'take', take);
    Req()(Ways.prototype, 'take', 0);
    Res()(Ways.prototype, 'take', 1);
    Controller()(Ways);
    const root = {
      module: Ways,
      imports: [nest.DeferModule.forRoot({ sink: 'test', ...options })],
      controllers: [Ways],
    };
    const given = { logger: false, abortOnError: false, bodyParser: false } as const;
    const made = async (): Promise<object> => {
      if (platform === 'fastify') {
        const { FastifyAdapter } = await import('@nestjs/platform-fastify');
        return new FastifyAdapter();
      }
      const { ExpressAdapter } = await import('@nestjs/platform-express');
      return new ExpressAdapter();
    };
    const app = isEngine
      ? await nest.RedlineFactory.create(root, { ...given, adapter: platform })
      : await NestFactory.create(root, (await made()) as never, given);
    if (platform === 'fastify') {
      const instance = app.getHttpAdapter().getInstance() as {
        addContentTypeParser(type: string, parse: (...args: never[]) => void): void;
      };
      instance.addContentTypeParser('multipart/form-data', ((
        _request: unknown,
        _payload: unknown,
        done: (error: null) => void,
      ) => done(null)) as never);
    }
    await app.listen(0, '127.0.0.1');
    const { deferrer } = app.get(nest.DeferService);
    return started(app.getHttpServer() as Server, deferrer, () => app.close());
  };
}

/** By name: a framework, and the server below it. */
export const platforms: Record<string, Start> = {};
for (const [server, serveIt] of Object.entries(servers)) {
  const isEngine = server === 'engine';
  Object.assign(platforms, {
    [`node:http on ${server}`]: onNode(serveIt),
    [`Express 5 on ${server}`]: onExpress('express', serveIt),
    [`Express 4 on ${server}`]: onExpress('express-4', serveIt),
    [`Fastify on ${server}`]: onFastify(isEngine),
    [`Koa on ${server}`]: onKoa(serveIt),
    [`Hono on ${server}`]: onHono(serveIt),
    [`Nest on Express on ${server}`]: onNest('express', isEngine),
    [`Nest on Fastify on ${server}`]: onNest('fastify', isEngine),
  } satisfies Record<string, Start>);
}
