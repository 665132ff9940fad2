import type { Planted, SmallApp } from './small-apps.ts';

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** package.json of an app on the engine: its HTTP is not what is found. */
const served = (dependencies: Record<string, string> = {}): string =>
  json({ scripts: { start: 'node --import @redline/http/register app.js' }, dependencies });

/** The mistakes of small-apps.ts as other people write them: written before the rules were tried on them. */
export const respelled: Record<string, Planted> = {
  'fs by another name, destructured in the handler': {
    rule: 'sync-on-request',
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `const express = require('express');
const disk = require('node:fs');
const app = express();
app.get('/terms', (req, res) => {
  const { readFileSync: read } = disk;
  res.send(read('terms.html', 'utf8')); // <-
});
app.listen(3000);
`,
    },
  },
  'an imported function by another name': {
    rule: 'sync-on-request',
    files: {
      'package.json': served({ fastify: '5' }),
      'app.mjs': `import { fastify } from 'fastify';
import { scryptSync as derive } from 'node:crypto';
const app = fastify();
app.route({
  method: 'POST',
  url: '/login',
  handler: async (request) => {
    const key = derive(request.body.password, 'salt', 64); // <-
    return { key: key.toString('hex') };
  },
});
`,
    },
  },
  'a class field that is an arrow function': {
    rule: 'sync-on-request',
    files: {
      'package.json': served({ express: '5' }),
      'src/app.ts': `import express, { type Request, type Response } from 'express';
import * as fs from 'node:fs';
class Pages {
  readonly #folder = 'pages';
  show = (request: Request, response: Response): void => {
    response.send(fs.readFileSync(this.#folder + request.path)); // <-
  };
}
const pages = new Pages();
const app = express();
app.get('/pages/:name', pages.show);
app.listen(3000);
`,
    },
  },
  'a plugin of Fastify behind fastify-plugin': {
    rule: 'sync-on-request',
    files: {
      'package.json': served({ fastify: '5', 'fastify-plugin': '5' }),
      'plugins/etag.js': `const fp = require('fastify-plugin');
const zlib = require('zlib');
module.exports = fp(async function etag(instance) {
  instance.addHook('onSend', async (request, reply, payload) => {
    return zlib.brotliCompressSync(payload); // <-
  });
});
`,
      'app.js': `const app = require('fastify')();
app.register(require('./plugins/etag'));
app.listen({ port: 3000 });
`,
    },
  },
  'routes of Express in a chain': {
    rule: 'sync-on-request',
    files: {
      'package.json': served({ express: '5', bcrypt: '6' }),
      'app.js': `import { Router } from 'express';
import bcrypt from 'bcrypt';
export const users = Router();
users
  .route('/users')
  .get((_, response) => response.json([]))
  .post((incoming, outgoing) => {
    outgoing.json({ hash: bcrypt.hashSync(incoming.body.password, 10) }); // <-
  });
`,
    },
  },
  'the default object of fs, in a hook of Koa': {
    rule: 'sync-on-request',
    files: {
      'package.json': served({ koa: '3', '@koa/router': '13' }),
      'app.mjs': `import Koa from 'koa';
import Router from '@koa/router';
import fs from 'fs';
const router = new Router({ prefix: '/files' });
router.get('list', '/', async (c) => {
  c.body = fs.readdirSync('/files'); // <-
});
new Koa().use(router.routes()).listen(3000);
`,
    },
  },
  'a service that a Nest module injects by a token': {
    rule: 'sync-on-request',
    files: {
      'package.json': json({ dependencies: { '@nestjs/core': '12', '@redline/nest': '0.1.0' } }),
      'src/files.controller.ts': `import { Controller, Get, Inject } from '@nestjs/common';
import { FilesService } from './files.service';
@Controller()
export class FilesController {
  @Inject(FilesService)
  private readonly files!: FilesService;
  @Get('files')
  list() {
    return this.files.list();
  }
}
`,
      'src/files.service.ts': `import { statSync } from 'fs';
export class FilesService {
  list() {
    return this.sizeOf('a.bin');
  }
  private sizeOf(name: string) {
    return statSync(name).size; // <-
  }
}
`,
    },
  },
  'a resolver of GraphQL': {
    rule: 'sync-on-request',
    files: {
      'package.json': served({ '@apollo/server': '5' }),
      'app.js': `import { ApolloServer } from '@apollo/server';
import { readFileSync } from 'node:fs';
const resolvers = {
  Query: {
    terms: (_, { language }) => readFileSync(language + '.txt', 'utf8'), // <-
  },
};
export const server = new ApolloServer({ typeDefs: 'type Query { terms(language: String): String }', resolvers });
`,
    },
  },
  'resolvers of Mercurius, kept in another file': {
    rule: 'console-on-request',
    files: {
      'package.json': served({ fastify: '5', mercurius: '16' }),
      'resolvers.js': `exports.resolvers = {
  Query: {
    async total(_, args) {
      console.info('total', args); // <-
      return 3;
    },
  },
};
`,
      'app.js': `const app = require('fastify')();
const mercurius = require('mercurius');
const { resolvers } = require('./resolvers');
app.register(mercurius, { schema: 'type Query { total: Int }', resolvers });
app.listen({ port: 3000 });
`,
    },
  },
  'execSync of a whole module, under a name of one letter': {
    rule: 'sync-on-request',
    files: {
      'package.json': served(),
      'app.js': `const http = require('http');
const c = require('child_process');
function revision() {
  return c.execSync('git rev-parse HEAD').toString(); // <-
}
const listener = function (q, s) {
  s.end(revision());
};
http.createServer({ keepAlive: true }, listener).listen(3000);
`,
    },
  },
  'spawn behind promisify': {
    rule: 'process-per-request',
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `import express from 'express';
import util from 'node:util';
import { exec } from 'node:child_process';
const run = util.promisify(exec);
const app = express();
app.get('/uptime', async (req, res) => {
  const { stdout } = await run('uptime'); // <-
  res.send(stdout);
});
app.listen(3000);
`,
    },
  },
  'fork in a service class': {
    rule: 'process-per-request',
    files: {
      'package.json': served({ hono: '4' }),
      'app.ts': `import { Hono } from 'hono';
import * as cp from 'node:child_process';
class Renderer {
  render(page: string) {
    return cp.fork('render.js', [page]); // <-
  }
}
const renderer = new Renderer();
const app = new Hono();
app.get('/render', (c) => c.json({ pid: renderer.render('a').pid }));
export default app;
`,
    },
  },
  'a client that a function makes for each call': {
    rule: 'client-per-request',
    files: {
      'package.json': served({ express: '5', pg: '8' }),
      'db.js': `const pg = require('pg');
exports.connect = async function connect() {
  const client = new pg.Client(process.env.DATABASE_URL); // <-
  await client.connect();
  return client;
};
`,
      'app.js': `const app = require('express')();
const db = require('./db');
app.get('/', async (req, res) => {
  const client = await db.connect();
  res.json(await client.query('SELECT 1'));
  await client.end();
});
app.listen(3000);
`,
    },
  },
  'the default export of pg, taken apart': {
    rule: 'client-per-request',
    files: {
      'package.json': served({ fastify: '5', pg: '8' }),
      'app.mjs': `import Fastify from 'fastify';
import pg from 'pg';
const { Pool } = pg;
const app = Fastify({ logger: true });
app.register(async (scope) => {
  scope.get('/orders', async () => {
    const pool = new Pool(); // <-
    const { rows } = await pool.query('SELECT 1');
    return rows;
  });
});
app.listen({ port: 3000 });
`,
    },
  },
  'an Ajv for each validation': {
    rule: 'client-per-request',
    files: {
      'package.json': served({ koa: '3', ajv: '8' }),
      'app.js': `const Koa = require('koa');
const Ajv = require('ajv').default;
const schema = { type: 'object' };
const validated = (body) => new Ajv({ allErrors: true }).compile(schema)(body); // <-
const app = new Koa();
app.use(async (ctx, next) => {
  if (!validated(ctx.request.body)) ctx.throw(400);
  await next();
});
app.listen(3000);
`,
    },
  },
  'an S3 client in a method of a controller': {
    rule: 'client-per-request',
    files: {
      'package.json': json({
        dependencies: { '@nestjs/core': '12', '@redline/nest': '1', '@aws-sdk/client-s3': '3' },
      }),
      'src/files.controller.ts': `import * as s3 from '@aws-sdk/client-s3';
import * as nest from '@nestjs/common';
@nest.Controller('files')
export class FilesController {
  @nest.Get(':name')
  async file(@nest.Param('name') name: string) {
    const client = new s3.S3Client({ region: 'eu-west-1' }); // <-
    return client.send(new s3.GetObjectCommand({ Bucket: 'b', Key: name }));
  }
}
`,
    },
  },
  'NestFactory behind a namespace, with a type argument': {
    rule: 'nest-on-express',
    files: {
      'package.json': served({ '@nestjs/core': '11', '@nestjs/platform-express': '11' }),
      'src/main.ts': `import * as core from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module';
core.NestFactory.create<NestExpressApplication>(AppModule, { cors: true }).then((app) => app.listen(3000)); // <-
`,
      'src/app.module.ts': `import { Module } from '@nestjs/common';
@Module({})
export class AppModule {}
`,
    },
  },
  'Nest whose options are a constant': {
    rule: 'nest-on-express',
    files: {
      'package.json': served({ '@nestjs/core': '11', '@nestjs/platform-express': '11' }),
      'src/main.ts': `import { NestFactory } from '@nestjs/core';
import type { NestApplicationOptions } from '@nestjs/common';
import { AppModule } from './app.module';
const options: NestApplicationOptions = { bufferLogs: true };
async function main() {
  const app = await NestFactory.create(AppModule, options); // <-
  await app.listen(3000);
}
void main();
`,
      'src/app.module.ts': `import { Module } from '@nestjs/common';
@Module({})
export class AppModule {}
`,
    },
  },
  'nestjs-pino by forRootAsync, renamed': {
    rule: 'logger-as-middleware',
    files: {
      'package.json': json({ dependencies: { 'nestjs-pino': '5', '@nestjs/common': '11' } }),
      'src/app.module.ts': `import { Module } from '@nestjs/common';
import { LoggerModule as Pino } from 'nestjs-pino';
const logging = Pino.forRootAsync({ useFactory: () => ({ pinoHttp: { level: 'info' } }) }); // <-
@Module({ imports: [logging] })
export class AppModule {}
`,
    },
  },
  'morgan under a path, with a format': {
    rule: 'logger-as-middleware',
    files: {
      'package.json': served({ express: '4', morgan: '1' }),
      'app.js': `const express = require('express');
const logger = require('morgan');
const app = express();
app.use('/api', logger('combined')); // <-
app.listen(3000);
`,
    },
  },
  'pino-http made in another file': {
    rule: 'logger-as-middleware',
    files: {
      'package.json': served({ express: '5', 'pino-http': '11' }),
      'logging.js': `import pinoHttp from 'pino-http';
export default function requestLogger() {
  return pinoHttp({ level: 'info' });
}
`,
      'app.js': `import express from 'express';
import requestLogger from './logging.js';
const app = express();
app.use(requestLogger()); // <-
app.listen(3000);
`,
    },
  },
  'a cache-aside in a method, with a default branch': {
    rule: 'cache-without-single-flight',
    files: {
      'package.json': json({ dependencies: { '@nestjs/core': '12', '@redline/nest': '1' } }),
      'src/feed.controller.ts': `import { CACHE_MANAGER } from '@nestjs/cache-manager';
import { Controller, Get, Inject } from '@nestjs/common';
import type { Cache } from 'cache-manager';
@Controller('feed')
export class FeedController {
  constructor(@Inject(CACHE_MANAGER) private readonly cache: Cache) {}
  @Get()
  async feed() {
    let feed = await this.cache.get('feed'); // <-
    if (feed === undefined) {
      feed = await this.load();
      await this.cache.set('feed', feed, 1_000);
    }
    return feed;
  }
  private async load() {
    return [1];
  }
}
`,
    },
  },
  'a cache-aside behind a wrapper': {
    rule: 'cache-without-single-flight',
    files: {
      'package.json': served({ express: '5', redis: '5' }),
      'cached.js': `import { createClient } from 'redis';
const client = createClient();
export async function cached(key, seconds, load) {
  const text = await client.get(key); // <-
  if (text) return JSON.parse(text).value;
  const value = await load();
  await client.setEx(key, seconds, JSON.stringify({ value }));
  return value;
}
`,
      'app.js': `import express from 'express';
import { cached } from './cached.js';
const app = express();
app.get('/top', async (req, res) => res.json(await cached('top', 60, async () => [1])));
app.listen(3000);
`,
    },
  },
  'a cache-aside with then': {
    rule: 'cache-without-single-flight',
    files: {
      'package.json': served({ express: '5', ioredis: '5' }),
      'app.js': `const app = require('express')();
const { Redis } = require('ioredis');
const { load } = require('./load');
const redis = new Redis({ enableAutoPipelining: true });
app.get('/top', (req, res, next) => {
  redis.get('top').then((text) => { // <-
    if (text) return res.type('json').send(text);
    return load().then((list) => redis.set('top', JSON.stringify(list), 'EX', 60).then(() => res.json(list)));
  }).catch(next);
});
app.listen(3000);
`,
      'load.js': 'exports.load = async () => [1];\n',
    },
  },
  'CacheInterceptor as the interceptor of all': {
    rule: 'cache-without-single-flight',
    files: {
      'package.json': json({ dependencies: { '@nestjs/cache-manager': '3' } }),
      'src/app.module.ts': `import { CacheInterceptor, CacheModule } from '@nestjs/cache-manager';
import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
@Module({
  imports: [CacheModule.register()],
  providers: [
    { provide: APP_INTERCEPTOR, useClass: CacheInterceptor }, // <-
  ],
})
export class AppModule {}
`,
    },
  },
  'cached JSON in a hook, through a class': {
    rule: 'cached-json-parsed',
    files: {
      'package.json': served({ fastify: '5', redis: '5' }),
      'app.ts': `import Fastify from 'fastify';
import { createClient, type RedisClientType } from 'redis';
class Products {
  constructor(private readonly redis: RedisClientType) {}
  async find(id: string) {
    const cached = await this.redis.get(id);
    return cached ? JSON.parse(cached) : undefined; // <-
  }
}
const products = new Products(createClient());
const app = Fastify();
app.get('/products/:id', async (request) => products.find('1'));
await app.listen({ port: 3000 });
`,
    },
  },
  'cached JSON handed on by a constant': {
    rule: 'cached-json-parsed',
    files: {
      'package.json': served({ express: '5', ioredis: '5' }),
      'app.js': `import express from 'express';
import IORedis from 'ioredis';
const connection = new IORedis(6379, 'redis', { enableAutoPipelining: true });
const app = express();
app.get('/product/:id', async (req, res) => {
  const hit = await connection.get(req.params.id);
  if (hit) {
    const product = JSON.parse(hit); // <-
    return res.status(200).json(product);
  }
  return res.sendStatus(404);
});
app.listen(3000);
`,
    },
  },
  'ioredis by require().default': {
    rule: 'redis-without-pipelining',
    files: {
      'package.json': json({ dependencies: { ioredis: '5' } }),
      'redis.js': `const Redis = require('ioredis').default;
const options = { host: 'redis', port: 6379 };
module.exports = new Redis(options); // <-
`,
    },
  },
  'ioredis as a factory of Nest': {
    rule: 'redis-without-pipelining',
    files: {
      'package.json': json({ dependencies: { ioredis: '5', '@nestjs/core': '12' } }),
      'src/redis.provider.ts': `import IORedis from 'ioredis';
export const redisProvider = {
  provide: 'REDIS',
  useFactory: () => new IORedis({ host: process.env.REDIS_HOST }), // <-
};
`,
    },
  },
  'a job returned as a promise': {
    rule: 'awaited-queue',
    files: {
      'package.json': served({ bull: '4', express: '5' }),
      'app.js': `const Queue = require('bull');
const express = require('express');
const mails = new Queue('mails');
const app = express();
app.post('/signup', async (req, res) => {
  await Promise.all([mails.add({ to: req.body.email }), save(req.body)]); // <-
  res.sendStatus(202);
});
const save = async () => {};
app.listen(3000);
`,
    },
  },
  'a mail sent through a service': {
    rule: 'awaited-queue',
    files: {
      'package.json': served({ nodemailer: '7', fastify: '5' }),
      'mailer.js': `import nodemailer from 'nodemailer';
const transport = nodemailer.createTransport({ host: 'smtp' });
export const mailer = {
  async welcome(to) {
    await transport.sendMail({ to, subject: 'Welcome' }); // <-
  },
};
`,
      'app.js': `import Fastify from 'fastify';
import { mailer } from './mailer.js';
const app = Fastify();
app.post('/signup', async (request, reply) => {
  await mailer.welcome(request.body.email);
  reply.code(202);
  return {};
});
app.listen({ port: 3000 });
`,
    },
  },
  'a message to SQS': {
    rule: 'awaited-queue',
    files: {
      'package.json': served({ '@aws-sdk/client-sqs': '3', express: '5' }),
      'app.js': `import express from 'express';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
const sqs = new SQSClient({});
const app = express();
app.post('/orders', async (req, res) => {
  await sqs.send(new SendMessageCommand({ QueueUrl: 'q', MessageBody: 'x' })); // <-
  res.status(202).end();
});
app.listen(3000);
`,
    },
  },
  'a producer of Kafka in a class': {
    rule: 'awaited-queue',
    files: {
      'package.json': served({ kafkajs: '2', koa: '3' }),
      'app.ts': `import Koa from 'koa';
import { Kafka, type Producer } from 'kafkajs';
class Events {
  private readonly producer: Producer = new Kafka({ brokers: [] }).producer();
  async publish(value: string) {
    await this.producer.send({ topic: 'events', messages: [{ value }] }); // <-
  }
}
const events = new Events();
const app = new Koa();
app.use(async (ctx) => {
  await events.publish(ctx.path);
  ctx.status = 204;
});
app.listen(3000);
`,
    },
  },
  'an agent that keeps nothing, by its module': {
    rule: 'agent-without-keep-alive',
    files: {
      'package.json': served({ 'node-fetch': '3' }),
      'prices.js': `const https = require('https');
const fetch = require('node-fetch');
const agent = new https.Agent({ keepAlive: false }); // <-
exports.price = (id) => fetch('https://prices/' + id, { agent });
`,
    },
  },
  'options of a request in a constant': {
    rule: 'agent-without-keep-alive',
    files: {
      'package.json': served(),
      'prices.js': `import { request } from 'node:http';
const options = { host: 'prices', agent: false }; // <-
export const price = (path, done) => request({ ...options, path }, done).end();
export const all = (done) => request(options, done).end();
`,
    },
  },
  'a connection that is asked to close': {
    rule: 'agent-without-keep-alive',
    files: {
      'package.json': served(),
      'prices.js': `export async function price(id) {
  const response = await fetch('https://prices/' + id, { headers: { connection: 'close' } }); // <-
  return response.json();
}
`,
    },
  },
  'compression twice, by two names': {
    rule: 'compression-twice',
    files: {
      'package.json': served({ express: '5', compression: '1' }),
      'app.js': `import express from 'express';
import compress from 'compression';
const gzip = compress();
const app = express();
app.use(gzip);
app.use(compress({ threshold: 0 }), express.json()); // <-
app.listen(3000);
`,
    },
  },
  'compression of Fastify twice': {
    rule: 'compression-twice',
    files: {
      'package.json': served({ fastify: '5', '@fastify/compress': '8' }),
      'app.js': `const app = require('fastify')();
app.register(require('@fastify/compress'));
app.register(require('@fastify/compress'), { encodings: ['gzip'] }); // <-
app.listen({ port: 3000 });
`,
    },
  },
  'console by another name': {
    rule: 'console-on-request',
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `const express = require('express');
const { log } = console;
const app = express();
app.use((req, res, next) => {
  log(req.url); // <-
  next();
});
app.listen(3000);
`,
    },
  },
  'a log of the app that is console.log': {
    rule: 'console-on-request',
    files: {
      'package.json': served({ fastify: '5' }),
      'logger.ts': `export const logger = {
  info(message: string) {
    console.log(new Date().toISOString(), message); // <-
  },
};
`,
      'app.ts': `import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { logger } from './logger.js';
async function ping({ url }: FastifyRequest, answer: FastifyReply) {
  logger.info(url);
  return answer.send('pong');
}
const app = fastify();
app.get('/ping', { schema: {} }, ping);
`,
    },
  },
  'a list made in full, held by a constant': {
    rule: 'map-before-slice',
    files: {
      'package.json': served({ fastify: '5' }),
      'app.js': `import fastify from 'fastify';
import items from './items.json' with { type: 'json' };
const app = fastify();
app.get('/items', async ({ query: { page } }) => {
  const all = items.map((item) => ({ id: item.id, price: item.price.toFixed(2) })); // <-
  return all.slice(page * 10, page * 10 + 10);
});
app.listen({ port: 3000 });
`,
    },
  },
  'map and slice with a function by its name': {
    rule: 'map-before-slice',
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `const app = require('express')();
const items = require('./items.json');
const shown = (item) => ({ id: item.id });
app.get('/items', (req, res) => res.json(items.map(shown).slice(0, 20))); // <-
app.listen(3000);
`,
    },
  },
  'pino-pretty among targets': {
    rule: 'pretty-in-production',
    files: {
      'package.json': served({ pino: '9' }),
      'logger.js': `import { pino } from 'pino';
export const logger = pino({
  transport: {
    targets: [
      { target: 'pino/file', options: { destination: 1 } },
      { target: 'pino-pretty', options: {} }, // <-
    ],
  },
});
`,
    },
  },
  'pino-pretty in a constant': {
    rule: 'pretty-in-production',
    files: {
      'package.json': served({ fastify: '5' }),
      'app.js': `const transport = { target: 'pino-pretty', options: { colorize: true } }; // <-
const app = require('fastify')({ logger: { level: 'info', transport } });
app.listen({ port: 3000 });
`,
    },
  },
  'a plain server, its handler in a class': {
    rule: 'node-http',
    files: {
      'package.json': json({ main: 'server.js' }),
      'server.js': `'use strict';
const { Server } = require('node:http');
class Api extends Server {}
const api = new Server((q, s) => s.end('ok')); // <-
api.listen(3000);
`,
    },
  },
  'Koa, made where it listens': {
    rule: 'node-http',
    files: {
      'package.json': json({ type: 'module', dependencies: { koa: '3' } }),
      'server.js': `import http from 'http';
import Koa from 'koa';
const app = new Koa(); // <-
app.use((ctx) => (ctx.body = 'ok'));
http.createServer(app.callback()).listen(3000);
`,
    },
  },
  'cross-env and a watcher': {
    rule: 'production-start',
    at: 'package.json:3',
    files: {
      'package.json': json({ scripts: { start: 'cross-env PORT=3000 NODE_ENV=dev node app.js' } }),
      'app.js': 'export {};\n',
    },
  },
  'tsx watch as the start': {
    rule: 'production-start',
    at: 'package.json:3',
    files: {
      'package.json': json({ scripts: { start: 'npx tsx watch src/app.ts' } }),
      'src/app.ts': 'export {};\n',
    },
  },
  'an old Node behind a variable of the Dockerfile': {
    rule: 'old-node',
    at: 'Dockerfile:1',
    files: {
      'package.json': json({}),
      Dockerfile: 'ARG NODE_VERSION=16.20.2\nFROM node:${NODE_VERSION}-slim\nCMD node app.js\n',
    },
  },
  'an old Node by its name': {
    rule: 'old-node',
    at: '.nvmrc:1',
    files: { 'package.json': json({}), '.nvmrc': 'lts/hydrogen\n' },
  },
  'a namespace written twice by createKeyv': {
    rule: 'keyv-prefix-twice',
    files: {
      'package.json': json({ dependencies: { keyv: '5', '@keyv/redis': '5' } }),
      'cache.js': `const { Keyv } = require('keyv');
const { default: KeyvRedis } = require('@keyv/redis');
const store = new KeyvRedis('redis://127.0.0.1');
exports.cache = new Keyv({ store, namespace: 'feed' }); // <-
`,
    },
  },
  'a namespace written twice, the store given first': {
    rule: 'keyv-prefix-twice',
    files: {
      'package.json': json({ dependencies: { keyv: '5', '@keyv/redis': '5' } }),
      'cache.js': `import Keyv from 'keyv';
import KeyvRedis from '@keyv/redis';
export const cache = new Keyv(new KeyvRedis('redis://127.0.0.1'), { namespace: 'feed' }); // <-
`,
    },
  },
  'request logs of Nest 12 on Fastify, with options': {
    rule: 'request-logs-missing',
    also: 'logger-as-middleware',
    files: {
      'package.json': served({ 'nestjs-pino': '5', '@nestjs/core': '12' }),
      'src/main.ts': `import * as nest from '@nestjs/core';
import { FastifyAdapter as Adapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module';
const adapter = new Adapter({ trustProxy: true });
const app = await nest.NestFactory.create(AppModule, adapter);
await app.listen(3000);
`,
      'src/app.module.ts': `import { Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
@Module({ imports: [LoggerModule.forRoot({ pinoHttp: { level: 'warn' } })] }) // <-
export class AppModule {}
`,
    },
  },
};

/** Apps that do the same things well, in other spellings. */
export const cleanRespelled: Record<string, SmallApp> = {
  'files read in plugins, and in what starts the app': {
    files: {
      'package.json': served({ fastify: '5' }),
      'app.js': `const fs = require('fs');
const app = require('fastify')();
app.register(async (scope) => {
  const terms = fs.readFileSync('terms.html', 'utf8');
  scope.get('/terms', async () => terms);
});
app.addHook('onReady', async () => {
  fs.mkdirSync('cache', { recursive: true });
});
app.after(() => console.log('plugins are there'));
app.listen({ port: 3000 }, () => console.log('listening'));
process.on('SIGTERM', () => fs.writeFileSync('ended', ''));
`,
    },
  },
  'a constructor that reads, and a module that starts': {
    files: {
      'package.json': json({ dependencies: { '@nestjs/core': '12', '@redline/nest': '1' } }),
      'src/keys.service.ts': `import { Injectable, type OnModuleInit } from '@nestjs/common';
import { readFileSync } from 'node:fs';
@Injectable()
export class KeysService implements OnModuleInit {
  readonly #key: string;
  #other = '';
  constructor() {
    this.#key = readFileSync('key.pem', 'utf8');
  }
  onModuleInit() {
    this.#other = readFileSync('other.pem', 'utf8');
    console.log('keys are loaded');
  }
  key() {
    return this.#key + this.#other;
  }
}
`,
      'src/keys.controller.ts': `import { Controller, Get } from '@nestjs/common';
import { KeysService } from './keys.service';
@Controller()
export class KeysController {
  constructor(private readonly keys: KeysService) {}
  @Get('key')
  key() {
    return this.keys.key();
  }
}
`,
    },
  },
  'a client made lazily, once': {
    files: {
      'package.json': served({ express: '5', pg: '8', ioredis: '5' }),
      'db.js': `import pg from 'pg';
import { Redis } from 'ioredis';
let pool;
let redis = null;
export function db() {
  pool ||= new pg.Pool();
  return pool;
}
export const cache = () => {
  if (redis === null) {
    redis = new Redis({ enableAutoPipelining: true });
  }
  return redis;
};
class Lazy {
  static #client;
  static get client() {
    return (Lazy.#client ??= new pg.Pool());
  }
}
export { Lazy };
`,
      'app.js': `import express from 'express';
import { cache, db, Lazy } from './db.js';
const app = express();
app.get('/', async (req, res) => {
  await cache().get('a');
  await Lazy.client.query('SELECT 1');
  res.json((await db().query('SELECT 1')).rows);
});
app.listen(3000);
`,
    },
  },
  'a worker beside the server': {
    files: {
      'package.json': served({ bullmq: '5', express: '5' }),
      'app.js': `import { Worker as Consumer, Queue } from 'bullmq';
import express from 'express';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
const mails = new Queue('mails');
const handle = async (job) => {
  console.log('job', job.id);
  execFile('convert', [job.data.file]);
  await mails.add('next', readFileSync(job.data.file, 'utf8'));
};
new Consumer('images', handle);
setInterval(() => console.log(process.memoryUsage().rss), 60_000);
const app = express();
app.post('/images', (req, res) => {
  void mails.add('image', req.body).catch(() => {});
  res.sendStatus(202);
});
app.listen(3000);
`,
    },
  },
  'errors and debugging only': {
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `const express = require('express');
const app = express();
app.get('/', async (req, res) => {
  if (process.env.DEBUG) console.log(req.headers);
  process.env.TRACE && console.log(req.url);
  res.send('ok');
});
app.use((error, req, res, next) => {
  console.log(error);
  res.status(500).end();
});
process.on('uncaughtException', (error) => console.log(error));
app.listen(3000, () => console.log('ready'));
`,
    },
  },
  'pretty lines for developers, by every way to say so': {
    files: {
      'package.json': served({ fastify: '5', pino: '9' }),
      'app.js': `import fastify from 'fastify';
import pino from 'pino';
const isProduction = process.env.NODE_ENV === 'production';
const transports = {
  development: { target: 'pino-pretty' },
  production: undefined,
};
const app = fastify({ logger: { transport: transports[process.env.NODE_ENV] } });
export const own = pino({ ...(isProduction ? {} : { transport: { target: 'pino-pretty' } }) });
export function developmentLogger() {
  return pino({ transport: { target: 'pino-pretty' } });
}
app.listen({ port: 3000 });
`,
    },
  },
  'locks and shared misses': {
    files: {
      'package.json': served({ express: '5', ioredis: '5', 'p-memoize': '7' }),
      'app.js': `import express from 'express';
import { Redis } from 'ioredis';
const redis = new Redis({ enableAutoPipelining: true });
const running = new Map();
async function cached(key, load) {
  const known = await redis.get(key);
  if (known !== null) return known;
  const other = running.get(key);
  if (other) return other;
  const promise = load().finally(() => running.delete(key));
  running.set(key, promise);
  const value = await promise;
  await redis.set(key, value, 'EX', 60);
  return value;
}
const app = express();
app.get('/counter', async (req, res) => {
  const before = Number(await redis.get('counter'));
  await redis.set('counter', before + 1);
  res.json(before);
});
app.get('/', async (req, res) => res.send(await cached('a', async () => 'a')));
app.listen(3000);
`,
    },
  },
  'JSON that is read before it is sent': {
    files: {
      'package.json': served({ express: '5', ioredis: '5' }),
      'app.js': `const app = require('express')();
const Redis = require('ioredis');
const redis = new Redis({ enableAutoPipelining: true });
app.get('/cart', async (req, res) => {
  const cart = JSON.parse(await redis.get('cart'));
  cart.total = cart.items.length;
  res.json(cart);
});
app.get('/session', async (req, res) => {
  const session = JSON.parse((await redis.get('session')) ?? '{}');
  if (!session.user) return res.sendStatus(401);
  return res.json(session);
});
app.listen(3000);
`,
    },
  },
  'compression for two routers': {
    files: {
      'package.json': served({ express: '5', compression: '1' }),
      'app.js': `const express = require('express');
const compression = require('compression');
const app = express();
const api = express.Router();
const pages = express.Router();
api.use(compression());
pages.use(compression({ level: 9 }));
app.use('/api', api);
app.use('/', pages);
if (process.env.EDGE) app.use(compression());
app.listen(3000);
`,
    },
  },
  'agents that are shared, and one request that closes': {
    files: {
      'package.json': served({ axios: '1', undici: '7' }),
      'clients.js': `import axios from 'axios';
import http from 'node:http';
import https from 'node:https';
import { Agent, setGlobalDispatcher } from 'undici';
setGlobalDispatcher(new Agent({ connections: 50 }));
const settings = { keepAlive: true };
export const api = axios.create({
  httpAgent: new http.Agent(settings),
  httpsAgent: new https.Agent({ ...settings, maxSockets: 10 }),
});
const options = { maxSockets: 10 };
options.keepAlive = true;
export const agent = new http.Agent(options);
`,
    },
  },
  'a server of Nest on its engine, GraphQL included': {
    files: {
      'package.json': json({
        scripts: { start: 'node dist/main.js', dev: 'nest start --watch' },
        dependencies: { '@nestjs/core': '12', '@nestjs/graphql': '13', '@redline/nest': '1' },
      }),
      'src/main.ts': `import { Query, Resolver } from '@nestjs/graphql';
import { Module } from '@nestjs/common';
import { RedlineFactory as Factory } from '@redline/nest';
@Resolver()
class Totals {
  @Query(() => Number)
  async total() {
    return [1, 2].slice(0, 1).map((each) => each * 2).length;
  }
}
@Module({ providers: [Totals] })
class AppModule {}
void Factory.create(AppModule).then((app) => app.listen(3000));
`,
    },
  },
  'tests and scripts beside the app': {
    start: ['node', '--import', '@redline/http/register', 'src/app.js'],
    files: {
      'package.json': served({ express: '5' }),
      'src/app.js': `import express from 'express';
const app = express();
app.get('/', (req, res) => res.send('ok'));
app.listen(3000);
`,
      'src/seed.js': `import { execSync } from 'node:child_process';
export const seed = (req, res) => res.send(execSync('psql < seed.sql'));
`,
    },
  },
  'an image built on an old Node, run on a new one': {
    files: {
      'package.json': json({ engines: { node: '>=18' } }),
      Dockerfile:
        'ARG VERSION=24\nFROM node:16 AS assets\nRUN npm run assets\nFROM node:${VERSION}-alpine\nCOPY --from=assets /a /a\n',
      '.nvmrc': 'lts/*\n',
    },
  },
};
