// One JSON route in Nest, on node:http, and one JSON line for each of its responses: `server.js FRAMEWORK LOGGER`, with the
// line in LOG_FOLDER/FRAMEWORK-LOGGER.log. What each logger needs is in loggers.js.
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { join } from 'node:path';
import process from 'node:process';
import { rmSync } from 'node:fs';
import { loggers } from './loggers.js';

const [framework, name] = process.argv.slice(2);
const product = JSON.parse(process.env.PRODUCT ?? '{}');
const file = join(process.env.LOG_FOLDER, `${framework}-${name}.log`);
rmSync(file, { force: true });
const { imports = [], fastify = {}, apply = () => {} } = await loggers[name](file, framework);

/** Decorators as TypeScript calls them: this file is not compiled. */
class Products {
  find() {
    return product;
  }

  exit() {
    process.exit(0);
  }
}
for (const [path, method] of [
  ['', 'find'],
  ['exit', 'exit'],
]) {
  Get(path)(
    Products.prototype,
    method,
    Object.getOwnPropertyDescriptor(Products.prototype, method),
  );
}
Controller()(Products);
function App() {}
Module({ imports, controllers: [Products] })(App);

const adapters = {
  express: async () => new (await import('@nestjs/platform-express')).ExpressAdapter(),
  fastify: async () => new (await import('@nestjs/platform-fastify')).FastifyAdapter(fastify),
};
const app = await NestFactory.create(App, await adapters[framework](), { logger: ['error'] });
apply(app);
if (process.env.SHUTDOWN_HOOKS) app.enableShutdownHooks();
await app.listen(Number(process.env.PORT), process.env.HOST);
