// One cached route of Nest on the engine: `cache-hit.js STORE TAGS`, with the Redis in REDIS_URL.
import { Controller, Get, Module } from '@nestjs/common';
import { JsonCache, JsonCacheModule, RedlineFactory, redisStore, tieredStore } from '@redline/nest';
import { Redis } from 'ioredis';

const [store, tags] = process.argv.slice(2);
const stores = { redis: redisStore, memory: tieredStore };
const client = new Redis(process.env.REDIS_URL, { enableAutoPipelining: true });
const product = JSON.parse(process.env.PRODUCT);

class Products {
  find() {
    return product;
  }
}
const own = Object.getOwnPropertyDescriptor(Products.prototype, 'find');
const names = Array.from({ length: Number(tags) }, (_, index) => `product:${index}`);
const policy = { ttl: 600_000, ...(names.length > 0 && { tags: names }) };
JsonCache(policy)(Products.prototype, 'find', own);
Get('/')(Products.prototype, 'find', own);
Controller()(Products);

// One prefix for each kind, so that none finds what another has kept.
const cache = stores[store](client, { keyPrefix: `hit:${store}:${tags}:` });
function App() {}
Module({ imports: [JsonCacheModule.forRoot({ store: cache })], controllers: [Products] })(App);

const app = await RedlineFactory.create(App, { logger: ['error'] });
await app.listen(Number(process.env.PORT), process.env.HOST ?? '127.0.0.1');
