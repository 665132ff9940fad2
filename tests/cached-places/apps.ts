/* oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 handles their rejections. */
// One app on the engine of `@redline/http`, by Fastify and by Express, with cached routes.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { RequestListener, Server } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  responseStoreOf,
  createServer,
  engine,
  serverFactory,
  type ResponseStoreStats,
} from '@redline/http';
import {
  JsonCache,
  memoryStore,
  type CachePolicy,
  type JsonStore,
  type RouteDefaults,
} from '@redline/response-cache';
import { cached } from '@redline/response-cache/express';
import { fastifyCache } from '@redline/response-cache/fastify';
import express from 'express';
import { fastify } from 'fastify';
import { rawRequest } from '../../packages/response-cache/test/raw-request.ts';

export const skip = engine().name === 'native' ? false : 'the addon is not built';
export const frameworks = ['Fastify', 'Express'] as const;
export type Framework = (typeof frameworks)[number];

/** What a handler does to its response. */
export interface Reply {
  status(code: number): void;
  header(name: string, value: string): void;
}
export type Handler = (id: string, reply: Reply) => unknown;

export interface AppOptions {
  readonly store?: JsonStore;
  readonly defaults?: RouteDefaults;
  readonly handler?: Handler;
  /** Runs before each response is sent; on Express, before the handler. */
  readonly onSend?: (reply: Reply) => void;
  readonly server?: { maxRequestsPerSocket?: number };
}

export interface App {
  readonly server: Server;
  readonly cache: JsonCache;
  readonly port: number;
  /** What the cache has logged. */
  readonly lines: string[];
  /** How often the handler ran. */
  runs(): number;
  stats(): ResponseStoreStats;
  raw(...head: string[]): Promise<string>;
  text(path: string, headers?: Record<string, string>): Promise<string>;
}

/** An app whose `/items/:id` is cached by `policy`. */
export async function startApp(
  t: TestContext,
  framework: Framework,
  policy: CachePolicy<any>,
  options: AppOptions = {},
): Promise<App> {
  const { store = memoryStore(), defaults = { hosts: 'any' }, onSend } = options;
  let runs = 0;
  const own: Handler = options.handler ?? ((id) => ({ id, run: runs, text: 'naïve 日本語' }));
  const handler: Handler = (id, reply) => {
    runs += 1;
    return own(id, reply);
  };
  const lines: string[] = [];
  const push = (line: string): void => void lines.push(line);
  const cache = new JsonCache({ store, timeoutMs: 30_000, logger: { log: push, warn: push } });
  const make = framework === 'Fastify' ? makeFastify : makeExpress;
  const server = await make(t, cache, policy, defaults, handler, onSend);
  Object.assign(server, options.server);
  if (framework === 'Express') {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  t.after(() => cache.close());
  const { port } = server.address() as AddressInfo;
  return {
    server,
    cache,
    port,
    lines,
    runs: () => runs,
    stats: () => responseStoreOf(server)!.stats(),
    raw: (...head) => rawRequest(port, head),
    text: async (path, headers = {}) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text(),
  };
}

async function makeFastify(
  t: TestContext,
  cache: JsonCache,
  policy: CachePolicy<any>,
  defaults: RouteDefaults,
  handler: Handler,
  onSend: AppOptions['onSend'],
): Promise<Server> {
  const app = fastify({ serverFactory });
  t.after(() => app.close());
  await app.register(fastifyCache, { cache, ...defaults });
  if (onSend !== undefined) {
    app.addHook('onSend', async (_request, reply) => {
      onSend(reply as unknown as Reply);
    });
  }
  app.get('/items/:id', { config: { cache: policy } }, async ({ params }, reply) =>
    handler((params as { id: string }).id, reply as unknown as Reply),
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

async function makeExpress(
  t: TestContext,
  cache: JsonCache,
  policy: CachePolicy<any>,
  defaults: RouteDefaults,
  handler: Handler,
  onSend: AppOptions['onSend'],
): Promise<Server> {
  const app = express();
  const replyOf = (response: express.Response): Reply => ({
    status: (code) => void response.status(code),
    header: (name, value) => void response.setHeader(name, value),
  });
  if (onSend !== undefined) {
    // One that says what it does, or the engine would not be allowed to answer ahead of it.
    const before: express.RequestHandler = (_request, response, next) => {
      onSend(replyOf(response));
      next();
    };
    app.use(Object.assign(before, { [Symbol.for('redline.passes-all')]: true }));
  }
  app.get('/items/:id', cached(cache, policy, defaults), async (request, response) => {
    response.json(await handler(request.params.id as string, replyOf(response)));
  });
  const server = createServer(app as RequestListener);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/** Asks until the engine answers. */
export async function fill(app: App, path: string, ...headers: string[]): Promise<string> {
  for (let tries = 0; tries < 500; tries++) {
    // A machine under load may need a moment for what Redis reports.
    if (tries > 20) await sleep(20);
    const { hits } = app.stats();
    const response = await app.raw(`GET ${path} HTTP/1.1`, ...headers);
    if (app.stats().hits > hits) return response;
  }
  throw new Error(`The engine never answered ${path}: ${JSON.stringify(app.stats())}`);
}
