/** A small app: its files by name, and what starts it. */
export interface SmallApp {
  files: Record<string, string>;
  start?: string[];
}

/** One mistake; its line ends with a comment of an arrow, or the file is one whose first line it is. */
export interface Planted extends SmallApp {
  rule: string;
  /** What the same line is found for as well. */
  also?: string;
  /** Where there is no room for a comment. */
  at?: string;
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** package.json of an app that runs on the engine, so that its HTTP is not what is found. */
const served = (dependencies: Record<string, string>): string =>
  json({ scripts: { start: 'node --import @redline/http/register app.js' }, dependencies });

export const planted: Record<string, Planted> = {
  'a file read in a route of Express': {
    rule: 'sync-on-request',
    start: ['node', '--import', '@redline/http/register', 'server.js'],
    files: {
      'package.json': served({ express: '^5.0.0' }),
      'server.js': `const fs = require('fs');
const express = require('express');
const config = fs.readFileSync('config.json', 'utf8');
const app = express();
app.get('/terms', (req, res) => {
  res.send(fs.readFileSync('terms.html', 'utf8')); // <-
});
app.listen(config.port);
`,
    },
  },
  'a password hashed on the loop, in a service of Nest': {
    rule: 'sync-on-request',
    files: {
      'package.json': json({
        dependencies: { '@nestjs/core': '^12.0.0', '@redline/nest': '0.1.0' },
      }),
      'src/users.service.ts': `import { Injectable } from '@nestjs/common';
import { pbkdf2Sync } from 'node:crypto';
@Injectable()
export class UsersService {
  hash(password: string): string {
    return pbkdf2Sync(password, 'salt', 100_000, 64, 'sha512').toString('hex'); // <-
  }
}
`,
      'src/users.controller.ts': `import { Body, Controller, Post } from '@nestjs/common';
import { UsersService } from './users.service.js';
@Controller('users')
export class UsersController {
  constructor(private readonly users: UsersService) {}
  @Post()
  create(@Body() body: { password: string }): string {
    return this.users.hash(body.password);
  }
}
`,
    },
  },
  'gzip on the loop, in a plain server': {
    rule: 'sync-on-request',
    start: ['node', 'index.mjs'],
    files: {
      'package.json': json({}),
      'index.mjs': `import '@redline/http/register';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { report } from './report.mjs';
createServer((incoming, outgoing) => {
  outgoing.setHeader('content-encoding', 'gzip');
  outgoing.end(gzipSync(report())); // <-
}).listen(process.env.PORT);
`,
      'report.mjs': `export const report = () => 'x'.repeat(100_000);
`,
    },
  },
  'a process that a request waits for, two files away': {
    rule: 'sync-on-request',
    files: {
      'package.json': served({ koa: '3' }),
      'app.js': `import Koa from 'koa';
import { version } from './git.js';
const app = new Koa();
app.use(async (ctx) => {
  ctx.body = version();
});
app.listen(3000);
`,
      'git.js': `import { execSync } from 'node:child_process';
export function version() {
  return String(execSync('git describe')); // <-
}
`,
    },
  },
  'a process for each request': {
    rule: 'process-per-request',
    start: ['node', 'server.js'],
    files: {
      'package.json': json({ type: 'module' }),
      'server.js': `import '@redline/http/register';
import { execFile } from 'node:child_process';
import http from 'node:http';
const server = http.createServer();
server.on('request', (req, res) => {
  execFile('convert', ['-version'], (error, stdout) => res.end(stdout)); // <-
});
server.listen(3000);
`,
    },
  },
  'a PrismaClient for each request': {
    rule: 'client-per-request',
    files: {
      'package.json': served({ fastify: '5', '@prisma/client': '6' }),
      'src/routes.ts': `import { PrismaClient } from '@prisma/client';
import type { FastifyInstance } from 'fastify';
export async function routes(app: FastifyInstance): Promise<void> {
  app.get('/users', async () => {
    const prisma = new PrismaClient(); // <-
    return prisma.user.findMany();
  });
}
`,
    },
  },
  'a pool of pg in a handler of Express': {
    rule: 'client-per-request',
    files: {
      'package.json': served({ express: '4', pg: '8' }),
      'lib/orders.js': `const { Pool } = require('pg');
module.exports.list = async (req, res) => {
  const pool = new Pool({ max: 5 }); // <-
  const { rows } = await pool.query('SELECT 1');
  res.json(rows);
};
`,
      'app.js': `const router = require('express').Router();
const orders = require('./lib/orders');
router.get('/orders', orders.list);
module.exports = router;
`,
    },
  },
  'Nest on Express': {
    rule: 'nest-on-express',
    files: {
      'package.json': served({ '@nestjs/core': '12', '@nestjs/platform-express': '12' }),
      'src/main.ts': `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';
async function bootstrap() {
  const app = await NestFactory.create(AppModule, { bufferLogs: true }); // <-
  await app.listen(3000);
}
void bootstrap();
`,
      'src/app.module.ts': `import { Module } from '@nestjs/common';
@Module({})
export class AppModule {}
`,
    },
  },
  'nestjs-pino': {
    rule: 'logger-as-middleware',
    files: {
      'package.json': json({ dependencies: { 'nestjs-pino': '5', '@nestjs/common': '^11.2.0' } }),
      'src/app.module.ts': `import { Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
@Module({
  imports: [LoggerModule.forRoot({ pinoHttp: { level: 'info' } })], // <-
})
export class AppModule {}
`,
    },
  },
  'pino-http in Express': {
    rule: 'logger-as-middleware',
    files: {
      'package.json': served({ express: '5', 'pino-http': '11' }),
      'app.js': `import express from 'express';
import { pinoHttp } from 'pino-http';
const app = express();
const log = pinoHttp();
app.use(log); // <-
app.listen(3000);
`,
    },
  },
  'nestjs-pino on Fastify, which logs no request': {
    rule: 'request-logs-missing',
    also: 'logger-as-middleware',
    files: {
      'package.json': served({ 'nestjs-pino': '5', '@nestjs/core': '^12.0.0' }),
      'src/main.ts': `import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { LoggerModule } from 'nestjs-pino';
@Module({ imports: [LoggerModule.forRoot()] }) // <-
class AppModule {}
const app = await NestFactory.create(AppModule, new FastifyAdapter());
await app.listen(3000);
`,
    },
  },
  'a cache without single flight': {
    rule: 'cache-without-single-flight',
    files: {
      'package.json': served({ fastify: '5' }),
      'app.js': `import Fastify from 'fastify';
import { cache, database } from './stores.js';
const app = Fastify();
app.get('/top', async () => {
  const hit = await cache.get('top'); // <-
  if (hit) return hit;
  const list = await database.top();
  await cache.set('top', list, 60);
  return list;
});
await app.listen({ port: 3000 });
`,
      'stores.js': `export const cache = globalThis.cache;
export const database = globalThis.database;
`,
    },
  },
  CacheInterceptor: {
    rule: 'cache-without-single-flight',
    files: {
      'package.json': json({ dependencies: { '@nestjs/cache-manager': '3' } }),
      'src/feed.controller.ts': `import { CacheInterceptor } from '@nestjs/cache-manager';
import { Controller, Get, UseInterceptors } from '@nestjs/common';
@Controller('feed')
export class FeedController {
  @Get()
  @UseInterceptors(CacheInterceptor) // <-
  feed(): string {
    return 'feed';
  }
}
`,
    },
  },
  'cached JSON that is parsed and serialised again': {
    rule: 'cached-json-parsed',
    files: {
      'package.json': served({ express: '5', ioredis: '5' }),
      'app.js': `const express = require('express');
const Redis = require('ioredis');
const redis = new Redis({ enableAutoPipelining: true });
const app = express();
app.get('/product/:id', async (req, res) => {
  const text = await redis.get(req.params.id);
  if (text === null) return res.sendStatus(404);
  return res.json(JSON.parse(text)); // <-
});
app.listen(3000);
`,
    },
  },
  'ioredis without autopipelining': {
    rule: 'redis-without-pipelining',
    files: {
      'package.json': json({ dependencies: { ioredis: '5' } }),
      'src/redis.ts': `import { Redis } from 'ioredis';
export const redis = new Redis(process.env.REDIS_URL!); // <-
`,
    },
  },
  'a job that the response waits for': {
    rule: 'awaited-queue',
    files: {
      'package.json': json({
        dependencies: { bullmq: '5', '@nestjs/core': '12', '@redline/nest': '0.1.0' },
      }),
      'src/orders.controller.ts': `import { InjectQueue } from '@nestjs/bullmq';
import { Body, Controller, Post } from '@nestjs/common';
import { Queue } from 'bullmq';
@Controller('orders')
export class OrdersController {
  constructor(@InjectQueue('mail') private readonly mail: Queue) {}
  @Post()
  async create(@Body() order: object): Promise<object> {
    await this.mail.add('confirm', order); // <-
    return { accepted: true };
  }
}
`,
    },
  },
  'an agent that keeps no connection': {
    rule: 'agent-without-keep-alive',
    files: {
      'package.json': json({ dependencies: { axios: '1' } }),
      'src/prices.ts': `import axios from 'axios';
import { Agent } from 'node:https';
export const prices = axios.create({ baseURL: 'https://prices.internal', httpsAgent: new Agent({ maxSockets: 50 }) }); // <-
`,
    },
  },
  'compression twice': {
    rule: 'compression-twice',
    files: {
      'package.json': served({ express: '5', compression: '1' }),
      'app.js': `const express = require('express');
const compression = require('compression');
const app = express();
app.use(compression());
app.use(express.json());
app.use(compression({ level: 9 })); // <-
app.listen(3000);
`,
    },
  },
  'console.log in a middleware': {
    rule: 'console-on-request',
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `import express from 'express';
const app = express();
function trace(req, res, next) {
  console.log(req.method, req.url); // <-
  next();
}
app.use(trace);
app.listen(3000);
`,
    },
  },
  'all items rendered, ten shown': {
    rule: 'map-before-slice',
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `const express = require('express');
const items = require('./items.json');
const app = express();
app.get('/items', (req, res) => {
  const page = Number(req.query.page);
  res.json(
    items
      .map((item) => ({ ...item, price: item.price.toFixed(2) }))
      .slice(page * 10, page * 10 + 10), // <-
  );
});
app.listen(3000);
`,
    },
  },
  'pino-pretty wherever it runs': {
    rule: 'pretty-in-production',
    files: {
      'package.json': served({ fastify: '5' }),
      'app.ts': `import fastify from 'fastify';
const app = fastify({
  logger: {
    transport: { target: 'pino-pretty' }, // <-
  },
});
await app.listen({ port: 3000 });
`,
    },
  },
  'Express on node:http': {
    rule: 'node-http',
    files: {
      'package.json': json({ scripts: { start: 'node app.js' }, dependencies: { express: '5' } }),
      'app.js': `const express = require('express');
const app = express(); // <-
app.get('/', (req, res) => res.send('ok'));
app.listen(3000);
`,
    },
  },
  'Hono on @hono/node-server': {
    rule: 'node-http',
    files: {
      'package.json': json({
        type: 'module',
        scripts: { start: 'node index.js' },
        dependencies: { hono: '4', '@hono/node-server': '1' },
      }),
      'index.js': `import { serve } from '@hono/node-server';
import { Hono } from 'hono';
const app = new Hono();
app.get('/', (c) => c.text('Hello'));
serve({ fetch: app.fetch, port: 3000 }); // <-
`,
    },
  },
  'a plugin that fastify-cli serves': {
    rule: 'node-http',
    at: 'package.json:3',
    files: {
      'package.json': json({
        scripts: { start: 'fastify start -l info app.js' },
        dependencies: { fastify: '5', 'fastify-cli': '8' },
      }),
      'app.js': "module.exports = async (app) => app.get('/', async () => ({ root: true }));\n",
    },
  },
  'a gateway of Moleculer': {
    rule: 'node-http',
    at: 'package.json:3',
    files: {
      'package.json': json({
        scripts: { start: 'moleculer-runner services' },
        dependencies: { moleculer: '0.15', 'moleculer-web': '0.11' },
      }),
      'services/api.service.js':
        "module.exports = { name: 'api', mixins: [require('moleculer-web')] };\n",
    },
  },
  'what Nitro has built, below Nuxt': {
    rule: 'node-http',
    at: 'package.json:4',
    files: {
      'package.json': json({
        scripts: { build: 'nuxt build', start: 'node .output/server/index.mjs' },
        dependencies: { nuxt: '4' },
      }),
      'nuxt.config.ts': 'export default {};\n',
    },
  },
  'pages that the adapter of Astro serves': {
    rule: 'node-http',
    at: 'package.json:4',
    files: {
      'package.json': json({
        scripts: { build: 'astro build', start: 'node ./dist/server/entry.mjs' },
        dependencies: { astro: '5', '@astrojs/node': '9' },
      }),
      'astro.config.mjs': 'export default {};\n',
    },
  },
  'what the adapter of SvelteKit has built': {
    rule: 'node-http',
    at: 'package.json:3',
    files: {
      'package.json': json({
        scripts: { start: 'node build' },
        devDependencies: { '@sveltejs/adapter-node': '5', '@sveltejs/kit': '2' },
      }),
      'svelte.config.js': 'export default {};\n',
    },
  },
  'a server in the workers of a cluster, which the engine serves too': {
    rule: 'node-http',
    files: {
      'package.json': json({ scripts: { start: 'node app.js' } }),
      'app.js': `const cluster = require('node:cluster');
const http = require('node:http');
if (cluster.isPrimary) cluster.fork();
else http.createServer((req, res) => res.end('ok')).listen(3000); // <-
`,
    },
  },
  'the engine in a script that is not the one that starts': {
    rule: 'node-http',
    files: {
      'package.json': json({
        scripts: {
          start: 'node app.js',
          'start:fast': 'node --import @redline/http/register app.js',
        },
      }),
      'app.js': `const http = require('node:http');
http.createServer((req, res) => res.end('ok')).listen(3000); // <-
`,
    },
  },
  'the engine in the start script, and another command': {
    rule: 'node-http',
    start: ['node', 'app.js'],
    files: {
      'package.json': json({
        scripts: { start: 'node --import @redline/http/register app.js' },
      }),
      'app.js': `const http = require('node:http');
http.createServer((req, res) => res.end('ok')).listen(3000); // <-
`,
    },
  },
  'a start script of several commands': {
    rule: 'node-http',
    files: {
      'package.json': json({
        scripts: {
          start: 'npm run build && npm run serve',
          serve: 'node app.js | pino-pretty 2>&1',
        },
      }),
      'app.js': `const http = require('node:http');
http.createServer((req, res) => res.end('ok')).listen(3000); // <-
`,
      'other.js': `const http = require('node:http');
http.createServer((req, res) => res.end('ok')).listen(3001);
`,
    },
  },
  'a start script of development': {
    rule: 'production-start',
    at: 'package.json:3',
    files: {
      'package.json': json({ scripts: { start: 'NODE_ENV=development node app.js' } }),
      'app.js': 'export {};\n',
    },
  },
  'an old Node in the image': {
    rule: 'old-node',
    at: 'Dockerfile:1',
    files: {
      'package.json': json({}),
      Dockerfile: 'FROM node:18-alpine\nCMD ["node", "app.js"]\n',
    },
  },
  'a namespace written twice': {
    rule: 'keyv-prefix-twice',
    files: {
      'package.json': json({ dependencies: { keyv: '^5.0.0', '@keyv/redis': '4' } }),
      'src/cache.ts': `import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
export const cache = new Keyv({ store: new KeyvRedis('redis://127.0.0.1') }); // <-
`,
    },
  },
};

/** Apps that do the same things well: nothing above a hint is found in them. */
export const clean: Record<string, SmallApp> = {
  'the engine in a script that the start script runs': {
    files: {
      'package.json': json({
        scripts: {
          start: 'npm run check && npm run serve',
          serve: 'node --import @redline/http/register app.js',
        },
      }),
      'app.js': `const http = require('node:http');
http.createServer((req, res) => res.end('ok')).listen(3000);
`,
    },
  },
  'files read as the app starts': {
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `import express from 'express';
import { readFileSync } from 'node:fs';
import { execSync } from 'node:child_process';
const terms = readFileSync('terms.html', 'utf8');
const version = execSync('git describe').toString();
const app = express();
function load(name) {
  return readFileSync(name, 'utf8');
}
const privacy = load('privacy.html');
app.get('/terms', (req, res) => res.send(terms + version + privacy));
app.listen(3000);
`,
    },
  },
  'a template that is read once': {
    files: {
      'package.json': served({ fastify: '5' }),
      'app.js': `import fastify from 'fastify';
import fs from 'node:fs';
let template;
const pages = new Map();
const app = fastify();
app.get('/a', async () => (template ??= fs.readFileSync('a.html', 'utf8')));
app.get('/b', async () => {
  if (!template) template = fs.readFileSync('a.html', 'utf8');
  return template;
});
const logo = () => {
  if (image !== undefined) return image;
  const file = fs.readFileSync('logo.png');
  image = file.toString('base64');
  return image;
};
let image;
app.get('/logo', async () => logo());
app.get('/c/:name', async (request) => {
  const { name } = request.params;
  if (!pages.has(name)) pages.set(name, fs.readFileSync(name));
  return pages.get(name);
});
await app.listen({ port: 3000 });
`,
    },
  },
  'everything asynchronous': {
    files: {
      'package.json': served({ koa: '3' }),
      'app.js': `import Koa from 'koa';
import { readFile } from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { createGzip } from 'node:zlib';
const app = new Koa();
app.use(async (ctx, next) => {
  ctx.state.id = randomBytes(8).toString('hex');
  ctx.state.tag = createHash('sha1').update(ctx.path).digest('hex');
  await next();
});
app.use(async (ctx) => {
  ctx.body = (await readFile('a.txt')).toString();
  ctx.set('x', String(typeof createGzip));
});
app.listen(3000);
`,
    },
  },
  'clients made once, agents that keep connections': {
    files: {
      'package.json': served({ express: '5', ioredis: '5', pg: '8' }),
      'app.js': `const express = require('express');
const Redis = require('ioredis');
const { Pool } = require('pg');
const https = require('node:https');
const redis = new Redis(process.env.REDIS_URL, { enableAutoPipelining: true });
const pool = new Pool();
const agent = new https.Agent({ keepAlive: true, maxSockets: 50 });
const app = express();
app.get('/orders', async (req, res) => {
  const { rows } = await pool.query('SELECT 1');
  await redis.set('seen', '1');
  https.get('https://example.com', { agent });
  res.json(rows);
});
app.listen(3000);
`,
    },
  },
  'a cache that shares its misses': {
    files: {
      'package.json': served({ fastify: '5' }),
      'app.js': `import fastify from 'fastify';
import { cache, database } from './stores.js';
const inFlight = new Map();
const app = fastify();
app.get('/top', async () => {
  const hit = await cache.get('top');
  if (hit) return hit;
  let pending = inFlight.get('top');
  if (!pending) {
    pending = database.top().finally(() => inFlight.delete('top'));
    inFlight.set('top', pending);
  }
  const list = await pending;
  await cache.set('top', list, 60);
  return list;
});
app.get('/flag', async (request) => {
  const before = await cache.get('flag');
  await cache.set('flag', request.query.on);
  return { before };
});
await app.listen({ port: 3000 });
`,
      'stores.js':
        'export const cache = globalThis.cache;\nexport const database = globalThis.database;\n',
    },
  },
  'jobs added outside of requests': {
    files: {
      'package.json': served({ bullmq: '5', express: '5' }),
      'app.js': `import { Queue, Worker } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
const connection = new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue('mail', { connection });
new Worker('mail', async (job) => {
  await queue.add('again', job.data);
});
await queue.add('nightly', {}, { repeat: { pattern: '0 3 * * *' } });
const app = express();
app.get('/', (req, res) => res.send('ok'));
app.listen(3000);
`,
    },
  },
  'logs for failures, pretty ones for development': {
    files: {
      'package.json': served({ fastify: '5' }),
      'app.js': `import fastify from 'fastify';
const app = fastify({
  logger: {
    transport: process.env.NODE_ENV === 'production' ? undefined : { target: 'pino-pretty' },
  },
});
app.get('/', async (request, reply) => {
  try {
    return await work(request);
  } catch (error) {
    console.log('failed', error);
    throw error;
  }
});
async function work(request) {
  if (request.query.debug) console.log(request.headers);
  return { ok: true };
}
console.log('starting');
await app.listen({ port: 3000 });
`,
    },
  },
  'Nest as it should be': {
    files: {
      'package.json': json({
        scripts: {
          'start:prod': 'NODE_ENV=production node dist/main.js',
          start: 'nest start --watch',
        },
        dependencies: {
          '@nestjs/core': '12',
          '@nestjs/platform-express': '12',
          '@redline/nest': '0.1.0',
        },
      }),
      '.nvmrc': 'v24\n',
      Dockerfile: 'FROM node:18 AS build\nRUN npm ci\nFROM node:24-slim\n',
      'src/main.ts': `import { Controller, Get, Module } from '@nestjs/common';
import { JsonCache, LoggerModule, RedlineFactory } from '@redline/nest';
@Controller()
class FeedController {
  @Get('feed')
  @JsonCache({ ttl: 1_000 })
  feed(): object {
    return { items: [1, 2].map((each) => each * 2).slice() };
  }
}
@Module({ imports: [LoggerModule.forRoot()], controllers: [FeedController] })
class AppModule {}
const app = await RedlineFactory.create(AppModule);
await app.listen(3000);
`,
    },
  },
  'names that only look like it': {
    files: {
      'package.json': served({ express: '5' }),
      'app.js': `import express from 'express';
import { readFileSync } from './virtual-files.js';
const routes = new Map();
routes.get('/a');
routes.delete('/b', () => {});
const queue = { add: async (item) => item };
const app = express();
app.get('/a', async (req, res) => {
  await queue.add(1);
  res.send(readFileSync('/a') + [1, 2, 3].map((each, index) => each * index).slice(1, 2).length);
});
class Redis {}
new Redis();
app.listen(3000);
`,
      'virtual-files.js':
        "const files = new Map();\nexport const readFileSync = (name) => files.get(name) ?? '';\n",
    },
  },
  'a command-line tool': {
    files: {
      'package.json': json({ bin: 'cli.js' }),
      'cli.js': `#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
const [, , file] = process.argv;
writeFileSync(file + '.gz', gzipSync(readFileSync(file)));
console.log(spawnSync('ls', ['-l', file]).stdout.toString());
`,
    },
  },
  'a build that requires by name': {
    start: ['node', '--import', '@redline/http/register', 'server.cjs'],
    files: {
      'package.json': served({ express: '5' }),
      'server.cjs': `const fs = require('node:fs');
const app = require('express')();
for (const name of fs.readdirSync('./routes')) app.use('/' + name, require('./routes/' + name));
app.listen(3000);
`,
      'routes/a.cjs': `const { Router } = require('express');
const router = Router();
router.get('/', async (req, res) => res.json({ a: 1 }));
module.exports = router;
`,
    },
  },
};
