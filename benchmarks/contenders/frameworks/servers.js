// One route in each framework, written as its documentation writes it: the product as JSON. Each resolves to its server.
import { createServer } from 'node:http';

const product = JSON.parse(process.env.PRODUCT ?? '{}');

export const servers = {
  async node(port, host) {
    const server = createServer((request, response) => {
      if (request.url !== '/') return response.writeHead(404).end();
      const text = JSON.stringify(product);
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      response.setHeader('Content-Length', Buffer.byteLength(text));
      response.end(text);
    });
    return server.listen(port, host);
  },

  express4: (port, host) => express('express4', port, host),
  express5: (port, host) => express('express', port, host),

  async koa(port, host) {
    const { default: Koa } = await import('koa');
    const app = new Koa();
    app.use((context) => {
      if (context.path === '/') context.body = product;
    });
    return app.listen(port, host);
  },

  async hono(port, host) {
    const { Hono } = await import('hono');
    const { serve } = await import('@hono/node-server');
    const app = new Hono();
    app.get('/', (context) => context.json(product));
    return serve({ fetch: app.fetch, port, hostname: host });
  },

  async fastify(port, host) {
    const { default: Fastify } = await import('fastify');
    const app = Fastify();
    app.get('/', async () => product);
    await app.listen({ port, host });
    return app.server;
  },

  'nest-express': (port, host) => nest('express', port, host),
  'nest-fastify': (port, host) => nest('fastify', port, host),

  async polka(port, host) {
    const { default: polka } = await import('polka');
    const app = polka().get('/', (request, response) => {
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      response.end(JSON.stringify(product));
    });
    app.listen(port, host);
    return app.server;
  },

  async h3(port, host) {
    const { H3, toNodeHandler } = await import('h3');
    const app = new H3().get('/', () => product);
    return createServer(toNodeHandler(app)).listen(port, host);
  },
};

async function express(version, port, host) {
  const { default: createApp } = await import(version);
  const app = createApp();
  app.get('/', (request, response) => response.json(product));
  return app.listen(port, host);
}

/** Decorators as TypeScript calls them: this file is not compiled. */
async function nest(platform, port, host) {
  await import('reflect-metadata');
  const { Controller, Get, Module } = await import('@nestjs/common');
  const { NestFactory } = await import('@nestjs/core');
  const { ExpressAdapter, FastifyAdapter } = await import(`@nestjs/platform-${platform}`);
  class Products {
    find() {
      return product;
    }
  }
  Get()(Products.prototype, 'find', Object.getOwnPropertyDescriptor(Products.prototype, 'find'));
  Controller()(Products);
  function App() {}
  Module({ controllers: [Products] })(App);
  const adapter = new (ExpressAdapter ?? FastifyAdapter)();
  const app = await NestFactory.create(App, adapter, { logger: ['error'] });
  await app.listen(port, host);
  return app.getHttpServer();
}
