// The ways in which servers send a file, each as a listener.
import 'reflect-metadata';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import type { RequestListener, ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream';
import { Controller, Get, Module, StreamableFile } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';

type Static = (folder: string) => RequestListener;
type ExpressApp = RequestListener & {
  use(middleware: RequestListener): void;
  get(
    path: string,
    handler: (request: object, response: { sendFile(path: string): void }) => void,
  ): void;
};
type Express = (() => ExpressApp) & { static: Static };
type KoaContext = { body: unknown; length: number; path: string };
type KoaApp = {
  use(middleware: (context: KoaContext) => unknown): void;
  callback(): RequestListener;
};

const require = createRequire(import.meta.url);
const express = require('express') as Express;
const send = createRequire(require.resolve('express'))('send') as (
  request: object,
  path: string,
  options: object,
) => { pipe(response: ServerResponse): void };
const Koa = require('koa') as new () => KoaApp;
const Fastify = require('fastify') as () => FastifyInstance;
const fastifyStatic = require('@fastify/static') as FastifyPluginCallback<{ root: string }>;
const koaSend = require('koa-send') as (
  context: KoaContext,
  path: string,
  options: { root: string },
) => Promise<string>;

/** Each serves `path` as /file. */
export const ways: Record<string, (path: string) => RequestListener | Promise<RequestListener>> = {
  pipe: (path) => (_, response) => {
    fs.createReadStream(path).pipe(response);
  },
  pipeline: (path) => (_, response) => {
    response.setHeader('Content-Length', fs.statSync(path).size);
    pipeline(fs.createReadStream(path), response, () => {});
  },
  send: (path) => (request, response) => {
    send(request, request.url!, { root: dirname(path) }).pipe(response);
  },
  'express.static': (path) => {
    const app = express();
    app.use(express.static(dirname(path)));
    return app;
  },
  'response.sendFile': (path) => {
    const app = express();
    app.get('/file', (_, response) => response.sendFile(path));
    return app;
  },
  'a stream that Fastify sends': async (path) => {
    const app = Fastify();
    app.get('/file', (_, reply) => {
      reply.header('content-length', fs.statSync(path).size);
      return reply.send(fs.createReadStream(path));
    });
    await app.ready();
    return (request, response) => app.routing(request, response);
  },
  '@fastify/static': async (path) => {
    const app = Fastify();
    await app.register(fastifyStatic, { root: dirname(path) });
    await app.ready();
    return (request, response) => app.routing(request, response);
  },
  'koa-send': (path) => {
    const app = new Koa();
    app.use((context) => koaSend(context, context.path, { root: dirname(path) }));
    return app.callback();
  },
  'a body of Koa': (path) => {
    const app = new Koa();
    app.use((context) => {
      context.length = fs.statSync(path).size;
      context.body = fs.createReadStream(path);
    });
    return app.callback();
  },
  'StreamableFile on Express': async (path) => {
    const app = await NestFactory.create(moduleOf(path), new ExpressAdapter(), { logger: false });
    await app.init();
    return app.getHttpAdapter().getInstance();
  },
  'StreamableFile on Fastify': async (path) => {
    const app = await NestFactory.create(moduleOf(path), new FastifyAdapter(), { logger: false });
    await app.init();
    const instance = app.getHttpAdapter().getInstance() as FastifyInstance;
    await instance.ready();
    return (request, response) => instance.routing(request, response);
  },
};

function moduleOf(path: string): new () => object {
  class Files {
    file(): StreamableFile {
      return new StreamableFile(fs.createReadStream(path), { length: fs.statSync(path).size });
    }
  }
  Controller()(Files);
  Get('file')(Files.prototype, 'file', Object.getOwnPropertyDescriptor(Files.prototype, 'file')!);
  // eslint-disable-next-line typescript/no-extraneous-class -- a module of Nest is a class
  class Root {}
  Module({ controllers: [Files] })(Root);
  return Root;
}
