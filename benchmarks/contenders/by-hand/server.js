// A cached JSON route in Nest on Fastify, its answers in Redis: `server.js CACHE LOGGER`, each "hand" or "redline". By hand is
// what a team writes itself in an afternoon, and what the article this project began with ends in: an interceptor that
// answers the text in Redis, and hooks around pino with a store in AsyncLocalStorage. Both log errors alone, or with
// LOG_ALL every response.
import 'reflect-metadata';
import { Controller, Get, Module, UseInterceptors } from '@nestjs/common';
import { HttpAdapterHost, NestFactory, Reflector } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { serverFactory } from '@redline/http';
import { JsonCache, JsonCacheModule, LoggerModule, redisStore } from '@redline/nest';
import { Redis } from 'ioredis';
import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';
import { pino } from 'pino';
import { of, tap } from 'rxjs';

const [cache, logger] = process.argv.slice(2);
const product = JSON.parse(process.env.PRODUCT);
const logsAll = process.env.LOG_ALL !== undefined;
const redis = new Redis(process.env.REDIS_URL, { enableAutoPipelining: true });
const ttlMs = 600_000;

class CacheByHand {
  constructor(reflector, host) {
    this.reflector = reflector;
    this.host = host;
  }

  async intercept(context, next) {
    const request = context.switchToHttp().getRequest();
    if (request.method !== 'GET') return next.handle();
    const ttl = this.reflector.get('ttl', context.getHandler()) ?? ttlMs;
    const key = `${cache}:${this.host.httpAdapter.getRequestUrl(request)}`;
    try {
      const text = await redis.get(key);
      if (text !== null) {
        context
          .switchToHttp()
          .getResponse()
          .header('content-type', 'application/json; charset=utf-8');
        return of(text);
      }
      return next.handle().pipe(tap((value) => void this.keep(key, value, ttl)));
    } catch {
      return next.handle();
    }
  }

  async keep(key, value, ttl) {
    await redis.set(key, JSON.stringify(value), 'PX', ttl).catch(() => {});
  }
}
Reflect.defineMetadata('design:paramtypes', [Reflector, HttpAdapterHost], CacheByHand);

/** Decorators as TypeScript calls them: this file is not compiled. */
class Products {
  cached() {
    return product;
  }
}
const route = [
  Products.prototype,
  'cached',
  Object.getOwnPropertyDescriptor(Products.prototype, 'cached'),
];
Get('cached')(...route);
if (cache === 'hand') UseInterceptors(CacheByHand)(...route);
else JsonCache({ ttl: ttlMs })(...route);
Controller()(Products);

const imports = [];
if (cache === 'redline') imports.push(JsonCacheModule.forRoot({ store: redisStore(redis) }));
if (logger === 'redline')
  imports.push(LoggerModule.forRoot({ requests: logsAll ? 'all' : 'errors' }));
function App() {}
Module({ imports, controllers: [Products] })(App);

const app = await NestFactory.create(App, new FastifyAdapter({ serverFactory }), {
  logger: ['error'],
});
app.enableCors();
if (logger === 'hand') logByHand(app.getHttpAdapter().getInstance());
await app.listen(Number(process.env.PORT), process.env.HOST);

function logByHand(fastify) {
  const root = pino(pino.destination({ sync: false }));
  const storage = new AsyncLocalStorage();
  fastify.addHook('preHandler', (request, _reply, done) => {
    storage.run({ reqId: request.id, logger: root }, done);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const req = {
      id: request.id,
      method: request.method,
      url: request.url,
      query: request.query,
      userAgent: request.headers['user-agent'],
    };
    const res = { statusCode: reply.statusCode };
    root[levelOf(reply.statusCode)]({ req, res, responseTime: reply.elapsedTime });
    done();
  });
}

function levelOf(status) {
  if (status >= 500) return 'error';
  if (status >= 400) return 'warn';
  return logsAll ? 'info' : 'silent';
}
