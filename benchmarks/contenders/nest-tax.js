// One cached route, in Nest or in the Fastify below it alone: `nest-tax.js nest|fastify hook|engine`.
import { serverFactory } from '@redline/http';
import { Controller, Get, Module } from '@nestjs/common';
import { JsonCache as Cached, JsonCacheModule, RedlineFactory } from '@redline/nest';
import { JsonCache, memoryStore } from '@redline/response-cache';
import { fastifyCache } from '@redline/response-cache/fastify';
import Fastify from 'fastify';

const [framework, at] = process.argv.slice(2);
const port = Number(process.env.PORT);
const host = process.env.HOST ?? '127.0.0.1';
const product = JSON.parse(process.env.PRODUCT);
const policy = { at, ttl: 600_000, identify: 'public' };
const hosts = 'any';

await { nest, fastify }[framework]();

async function nest() {
  class Products {
    find() {
      return product;
    }
  }
  const own = Object.getOwnPropertyDescriptor(Products.prototype, 'find');
  Cached(policy)(Products.prototype, 'find', own);
  Get('cached')(Products.prototype, 'find', own);
  Controller()(Products);
  function App() {}
  Module({
    imports: [JsonCacheModule.forRoot({ store: memoryStore(), hosts })],
    controllers: [Products],
  })(App);
  const app = await RedlineFactory.create(App, { logger: ['error'] });
  await app.listen(port, host);
}

async function fastify() {
  const app = Fastify({ serverFactory });
  await app.register(fastifyCache, { cache: new JsonCache({ store: memoryStore() }), hosts });
  app.get('/cached', { config: { cache: policy } }, () => product);
  await app.listen({ port, host });
}
