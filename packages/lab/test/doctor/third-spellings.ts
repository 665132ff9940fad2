import type { Planted, SmallApp } from './small-apps.ts';

const app = (
  files: Record<string, string>,
  dependencies: Record<string, string> = {},
): { files: Record<string, string> } => ({
  files: {
    'package.json': `${JSON.stringify({ scripts: { start: 'node --import @redline/http/register app.js' }, dependencies }, undefined, 2)}\n`,
    ...files,
  },
});

/** A third way to write each mistake. */
export const thirdSpellings: Record<string, Planted> = {
  'a handler that is bound, of a class with a base': {
    rule: 'sync-on-request',
    ...app({
      'base.ts': `import fs from 'node:fs';
export abstract class Base {
  protected page(name: string): string {
    return fs.readFileSync(name, 'utf8'); // <-
  }
}
`,
      'app.ts': `import express, { type Request, type Response } from 'express';
import { Base } from './base.js';
class Pages extends Base {
  show(request: Request, response: Response) {
    response.send(this.page('a.html'));
  }
}
const pages = new Pages();
express().get('/a', pages.show.bind(pages)).listen(3000);
`,
    }),
  },
  'controllers in an object of routes': {
    rule: 'sync-on-request',
    ...app({
      'controllers/index.js': `module.exports = { users: require('./users') };
`,
      'controllers/users.js': `const { pbkdf2Sync } = require('crypto');
module.exports = {
  create(req, res) {
    res.json(pbkdf2Sync(req.body.password, 'salt', 1e5, 64, 'sha512')); // <-
  },
};
`,
      'app.js': `const express = require('express');
const controllers = require('./controllers');
const app = express();
app.post('/users', express.json(), controllers.users.create);
app.listen(3000);
`,
    }),
  },
  'an autoloaded plugin of Fastify, by its type': {
    rule: 'sync-on-request',
    ...app({
      'routes/terms.ts': `import type { FastifyPluginAsync } from 'fastify';
import { readFileSync } from 'fs';
const terms: FastifyPluginAsync = async (server) => {
  server.get('/terms', async () => readFileSync('terms.txt', 'utf8')); // <-
};
export default terms;
`,
    }),
  },
  'fs by a computed import': {
    rule: 'sync-on-request',
    ...app({
      'app.mjs': `import { Hono } from 'hono';
const fs = await import('node:fs');
const app = new Hono().basePath('/v1');
app.get('/size', (c) => c.text(String(fs.default.statSync('a').size))); // <-
export default { port: 3000, fetch: app.fetch };
`,
    }),
  },
  'a middleware that a factory makes': {
    rule: 'console-on-request',
    ...app({
      'trace.js': `export const trace = (prefix) => (req, res, next) => {
  res.on('finish', () => console.log(prefix, req.method, res.statusCode)); // <-
  next();
};
`,
      'app.js': `import express from 'express';
import { trace } from './trace.js';
const app = express();
app.use(trace('api'));
app.listen(3000);
`,
    }),
  },
  'an interceptor of Nest that logs': {
    rule: 'console-on-request',
    ...app({
      'logging.interceptor.ts': `import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { tap } from 'rxjs';
@Injectable()
export class LoggingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const startedAt = Date.now();
    return next.handle().pipe(tap(() => console.log(Date.now() - startedAt))); // <-
  }
}
`,
    }),
  },
  'a process by the name of the whole module': {
    rule: 'process-per-request',
    ...app({
      'app.js': `import child_process from 'node:child_process';
import { createServer } from 'node:http';
const convert = (name) => new Promise((resolve) => {
  const child = child_process.spawn('convert', [name]); // <-
  child.once('close', resolve);
});
async function onRequest(request, response) {
  await convert(request.url);
  response.end();
}
createServer(onRequest).listen(3000);
`,
    }),
  },
  'a mongoose that connects in the handler of a lambda-like route': {
    rule: 'client-per-request',
    ...app({
      'app.js': `const mongoose = require('mongoose');
const { Router } = require('express');
const api = new Router();
api.get('/', async (req, res) => {
  await mongoose.connect('mongodb://db/app'); // <-
  res.json(await mongoose.model('A').find());
});
module.exports = api;
`,
    }),
  },
  'an Agent of undici for each call': {
    rule: 'client-per-request',
    ...app({
      'app.js': `import Koa from 'koa';
import * as undici from 'undici';
const app = new Koa();
app.use(async (ctx) => {
  const { body } = await undici.request('http://prices', {
    dispatcher: new undici.Agent({ connections: 1 }), // <-
  });
  ctx.body = body;
});
app.listen(3000);
`,
    }),
  },
  'a template compiled in each response': {
    rule: 'client-per-request',
    ...app({
      'app.js': `const handlebars = require('handlebars');
const source = '<p>{{name}}</p>';
const fastify = require('fastify');
const server = fastify();
server.get('/', (request, reply) => {
  reply.type('text/html').send(handlebars.compile(source)({ name: 'a' })); // <-
});
server.listen({ port: 3000 });
`,
    }),
  },
  'Nest with options in place, and no adapter': {
    rule: 'nest-on-express',
    ...app({
      'main.ts': `import { NestFactory as Factory } from '@nestjs/core';
import { Root } from './root.module.js';
(async () => {
  const server = await Factory.create(Root, { logger: ['error'] as const }); // <-
  server.enableCors();
  await server.listen(process.env.PORT ?? 3000);
})();
`,
      'root.module.ts': 'export class Root {}\n',
    }),
  },
  'morgan in a list of middlewares': {
    rule: 'logger-as-middleware',
    ...app({
      'app.js': `import express from 'express';
import morgan, { token } from 'morgan';
token('id', (req) => req.id);
const before = morgan('tiny', { immediate: true });
express().use(express.json(), before).listen(3000); // <-
`,
    }),
  },
  'express-winston': {
    rule: 'logger-as-middleware',
    ...app({
      'app.js': `const express = require('express');
const { logger: requestLogger } = require('express-winston');
const app = express();
app.use(requestLogger({ transports: [] })); // <-
app.listen(3000);
`,
    }),
  },
  'cache-aside with a guard at its head': {
    rule: 'cache-without-single-flight',
    ...app({
      'app.ts': `import fastify from 'fastify';
import { createCache } from 'cache-manager';
import { query } from './db.js';
const store = createCache();
const KEY = 'prices';
async function prices(): Promise<unknown> {
  const known = await store.get(KEY); // <-
  if (known != null) {
    return known;
  } else {
    const fresh = await query('SELECT 1');
    await store.set(KEY, fresh, 5_000);
    return fresh;
  }
}
const app = fastify();
app.get('/prices', prices);
`,
      'db.ts': 'export const query = async (_: string): Promise<unknown> => [];\n',
    }),
  },
  'a subclass of CacheInterceptor': {
    rule: 'cache-without-single-flight',
    ...app({
      'http-cache.ts': `import { CacheInterceptor } from '@nestjs/cache-manager';
export class HttpCache extends CacheInterceptor {}
`,
      'feed.ts': `import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { HttpCache } from './http-cache.js';
@UseInterceptors(HttpCache) // <-
@Controller('feed')
export class Feed {
  @Get()
  all() {
    return [];
  }
}
`,
    }),
  },
  'cached JSON as the body of Koa': {
    rule: 'cached-json-parsed',
    ...app({
      'app.js': `import Koa from 'koa';
import { createClient } from 'redis';
const redis = await createClient().connect();
const app = new Koa();
app.use(async (ctx) => {
  const text = await redis.get(ctx.path);
  ctx.body = JSON.parse(text); // <-
});
app.listen(3000);
`,
    }),
  },
  'ioredis in a class field': {
    rule: 'redis-without-pipelining',
    ...app({
      'cache.ts': `import Redis, { type RedisOptions } from 'ioredis';
const settings: RedisOptions = { lazyConnect: true };
export class Cache {
  readonly #client = new Redis({ ...settings, keyPrefix: 'a:' }); // <-
  get(key: string) {
    return this.#client.get(key);
  }
}
`,
    }),
  },
  'a job that is waited for through a variable': {
    rule: 'awaited-queue',
    ...app({
      'app.js': `import { Queue } from 'bullmq';
import express from 'express';
const queues = { mail: new Queue('mail') };
const app = express();
app.post('/orders', async (req, res) => {
  const accepted = queues.mail.add('confirm', req.body);
  await accepted; // <-
  res.sendStatus(202);
});
app.listen(3000);
`,
    }),
  },
  'a queue behind a function of the app': {
    rule: 'awaited-queue',
    ...app({
      'queue.js': `const { Queue } = require('bullmq');
const queue = new Queue('mail');
exports.enqueue = async (name, data) => {
  await queue.addBulk([{ name, data }]); // <-
};
`,
      'app.js': `const { enqueue } = require('./queue');
require('express')().post('/orders', (req, res, next) => {
  enqueue('confirm', req.body).then(() => res.sendStatus(202), next);
}).listen(3000);
`,
    }),
  },
  'an agent with a constant for its options': {
    rule: 'agent-without-keep-alive',
    ...app({
      'prices.js': `import axios from 'axios';
import { Agent as HttpsAgent } from 'https';
const options = { rejectUnauthorized: true };
axios.defaults.httpsAgent = new HttpsAgent(options); // <-
`,
    }),
  },
  'compression of Koa twice': {
    rule: 'compression-twice',
    ...app({
      'app.js': `const Koa = require('koa');
const compress = require('koa-compress');
const app = new Koa();
app.use(compress());
app.use(compress({ br: false })); // <-
app.listen(3000);
`,
    }),
  },
  'a page of a list, by arrow and optional chain': {
    rule: 'map-before-slice',
    ...app({
      'app.ts': `import { Hono } from 'hono';
import { all } from './all.js';
const app = new Hono();
app.get('/', (c) => c.json(all()?.map(({ id, name }) => ({ id, name }))?.slice(0, 10))); // <-
export default app;
`,
      'all.ts': 'export const all = (): { id: number; name: string }[] | undefined => [];\n',
    }),
  },
  'pino-pretty as a stream': {
    rule: 'pretty-in-production',
    ...app({
      'logger.js': `const pino = require('pino');
const pretty = require('pino-pretty');
module.exports = pino({ level: 'info' }, pretty({ colorize: true })); // <-
`,
    }),
  },
  'a transport of pino, by itself': {
    rule: 'pretty-in-production',
    ...app({
      'logger.js': `import * as P from 'pino';
const stream = P.transport({ target: 'pino-pretty' }); // <-
export const logger = P.pino(stream);
`,
    }),
  },
  'Fastify by its factory, in a function': {
    rule: 'node-http',
    files: {
      'package.json': '{ "scripts": { "start": "node build.js" } }\n',
      'build.js': `const Fastify = require('fastify');
function build(options) {
  return Fastify(options); // <-
}
build({ logger: true }).listen({ port: 3000 });
`,
    },
  },
  'a debugger in production': {
    rule: 'production-start',
    at: 'package.json:3',
    files: {
      'package.json': '{\n  "scripts": {\n    "start": "node --inspect app.js"\n  }\n}\n',
    },
  },
  'an old image by a registry, in two stages': {
    rule: 'old-node',
    at: 'Dockerfile:1',
    files: {
      'package.json': '{}\n',
      Dockerfile: `FROM docker.io/library/node:18.20 AS base
FROM base AS build
RUN npm ci
FROM base
COPY --from=build /app /app
`,
    },
  },
  'a namespace twice, the adapter by its own name': {
    rule: 'keyv-prefix-twice',
    ...app(
      {
        'cache.ts': `import { KeyvRedis as Adapter } from '@keyv/redis';
import Keyv from 'keyv';
export const make = (url: string): Keyv => new Keyv({ namespace: 'a', store: new Adapter(url) }); // <-
`,
      },
      { keyv: '^5.1.0' },
    ),
  },
};

export const thirdClean: Record<string, SmallApp> = {
  'a service whose value is read by its caller': app({
    'app.js': `import express from 'express';
import { Redis } from 'ioredis';
const redis = new Redis({ enableAutoPipelining: true });
const session = async (id) => JSON.parse(await redis.get(id));
const app = express();
app.get('/', async (req, res) => {
  const { user } = await session(req.query.id);
  res.send(user);
});
app.listen(3000);
`,
  }),
  'failures that are logged, in every place for them': app({
    'app.js': `import Fastify from 'fastify';
const app = Fastify();
app.setErrorHandler((error, request, reply) => {
  console.log(error.message);
  reply.code(500).send();
});
app.get('/', async (request, reply) => {
  work().catch((error) => console.log(error));
  request.raw.on('error', (error) => console.log(error));
  return {};
});
const work = async () => {};
app.listen({ port: 3000 });
`,
  }),
  'memoised, by the names people give that': app({
    'app.js': `const fs = require('fs');
const app = require('express')();
const cache = {};
function template(name) {
  if (cache[name]) return cache[name];
  return (cache[name] = fs.readFileSync(name, 'utf8'));
}
let config = null;
function load() {
  if (config) return config;
  config = JSON.parse(fs.readFileSync('config.json', 'utf8'));
  return config;
}
app.get('/', (req, res) => res.send(template('a') + load().title));
app.listen(3000);
`,
  }),
  'queries that are called Query': app({
    'app.js': `import express from 'express';
import { readFileSync } from 'node:fs';
const schema = { Query: { type: 'object' }, resolve: { extensions: ['.js'] } };
export const config = { type: 'module', resolve: () => readFileSync.name };
const app = express();
app.get('/', (req, res) => res.json(schema));
app.listen(3000);
`,
  }),
  'one compressor for each of two branches': app({
    'app.js': `import express from 'express';
import compression from 'compression';
const app = express();
if (process.env.LEVEL) app.use(compression({ level: Number(process.env.LEVEL) }));
else app.use(compression());
app.listen(3000);
`,
  }),
  'pages that need the index, or the whole list': app({
    'app.js': `import express from 'express';
const app = express();
const items = [1, 2, 3];
let made = 0;
app.get('/', (req, res) => {
  const all = items.map((item) => ({ item }));
  res.json({ total: all.length, page: all.slice(0, 10) });
});
app.get('/b', (req, res) => res.json(items.map((item, index) => item + index).slice(0, 2)));
app.get('/c', (req, res) => res.json(items.map((item) => ({ item, n: (made += 1) })).slice(0, 2)));
app.listen(3000);
`,
  }),
  'agents by every right spelling': app({
    'clients.js': `const http = require('http');
const https = require('https');
const keepAlive = true;
exports.a = new http.Agent({ keepAlive });
exports.b = new https.Agent({ keepAlive: process.env.KEEP !== 'no' });
exports.c = (path, agent) => https.get(path, { agent });
exports.d = () => fetch('http://a', { headers: { connection: 'keep-alive' } });
const shared = Object.assign({ keepAlive: true }, {});
exports.e = new http.Agent(shared);
`,
  }),
  'jobs that nobody waits for': app({
    'app.js': `import { Queue } from 'bullmq';
import { SQSClient, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import express from 'express';
const queue = new Queue('a');
const sqs = new SQSClient({});
const items = new Set();
const app = express();
app.get('/', async (req, res) => {
  items.add(1);
  queue.add('a', {}).catch(() => {});
  res.json(await sqs.send(new ReceiveMessageCommand({ QueueUrl: 'q' })));
});
app.listen(3000);
`,
  }),
  'a Fastify of Nest, and its logger': app(
    {
      'main.ts': `import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
const adapter = () => new FastifyAdapter({ trustProxy: true });
const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter(), { cors: true });
await app.listen(3000, '0.0.0.0');
`,
      'app.module.ts': 'export class AppModule {}\n',
    },
    { '@nestjs/core': '12', '@nestjs/platform-fastify': '12' },
  ),
  'scripts of a newer Node': {
    files: {
      'package.json':
        '{ "scripts": { "start": "node --watch-path=./config.json.d --env-file=.env dist/app.js", "dev": "nodemon src" }, "volta": { "node": "24.1.0" } }\n',
      Dockerfile: 'FROM node:22-alpine AS node\nFROM nginx\nCOPY --from=node /a /a\n',
      '.nvmrc': 'lts/krypton\n',
    },
  },
  'a class that only looks like a controller': app({
    'jobs.ts': `import { Cron } from '@nestjs/schedule';
import { Injectable } from '@nestjs/common';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
@Injectable()
export class Jobs {
  @Cron('0 3 * * *')
  nightly() {
    console.log(execFileSync('backup', [readFileSync('list', 'utf8')]));
  }
}
`,
  }),
};
