// Deferred work on each of the frameworks, for tests that ask it over HTTP.
import 'reflect-metadata';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Controller, Get, Param, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { createDefer, type DeferOptions, type Deferrer } from '@redline/defer';
import { expressDefer } from '@redline/defer/express';
import { fastifyDefer } from '@redline/defer/fastify';
import { DeferModule, DeferService } from '@redline/nest';
import express from 'express';
import fastify from 'fastify';

export interface App {
  readonly url: string;
  readonly deferrer: Deferrer;
  stop(): Promise<void>;
}

/** What a request defers, of what stands in its path. */
export type Take = (level: string, when: string, data: string) => unknown;

async function listening(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startNest(
  adapter: ExpressAdapter | FastifyAdapter,
  options: DeferOptions,
  take: Take,
): Promise<App> {
  class Jobs {
    async take(level: string, when: string, data: string): Promise<object> {
      await take(level, when, data);
      return { data };
    }
  }
  const own = Object.getOwnPropertyDescriptor(Jobs.prototype, 'take')!;
  Get('/:level/:when/:data')(Jobs.prototype, 'take', own);
  for (const [place, name] of ['level', 'when', 'data'].entries()) {
    Param(name)(Jobs.prototype, 'take', place);
  }
  Controller()(Jobs);
  const root = {
    module: Jobs,
    imports: [DeferModule.forRoot({ sink: 'test', ...options })],
    controllers: [Jobs],
  };
  const app: INestApplication = await NestFactory.create(root, adapter, {
    logger: false,
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer() as Server;
  return {
    url: await listening(server),
    deferrer: app.get(DeferService).deferrer,
    async stop() {
      server.closeAllConnections();
      await app.close();
    },
  };
}

/** `GET /:level/:when/:data` of each. */
export const apps: Record<string, (options: DeferOptions, take: Take) => Promise<App>> = {
  async Fastify(options, take) {
    const deferrer = createDefer(options);
    const app = fastify({ forceCloseConnections: true });
    await app.register(fastifyDefer, { deferrer });
    app.get<{ Params: Record<'level' | 'when' | 'data', string> }>(
      '/:level/:when/:data',
      async ({ params: { level, when, data } }) => {
        await take(level, when, data);
        return { data };
      },
    );
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, deferrer, stop: () => app.close() };
  },
  async Express(options, take) {
    const deferrer = createDefer(options);
    const app = express();
    // It prints each refusal elsewhere.
    app.set('env', 'test');
    app.use(expressDefer(deferrer));
    app.get('/:level/:when/:data', async ({ params: { level, when, data } }, response) => {
      await take(level, when, data);
      response.json({ data });
    });
    const server = app.listen(0, '127.0.0.1');
    return {
      url: await listening(server),
      deferrer,
      async stop() {
        server.closeAllConnections();
        server.close();
        await deferrer.close();
      },
    };
  },
  'Nest on Fastify': (options, take) => startNest(new FastifyAdapter(), options, take),
  'Nest on Express': (options, take) => startNest(new ExpressAdapter(), options, take),
};

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-faults-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a process that is killed now leaves to the next one. */
export function leftBy(t: TestContext, directory: string): string {
  const copy = temporaryFolder(t);
  cpSync(directory, copy, { recursive: true });
  for (const name of readdirSync(copy).filter((each) => each.includes('~'))) {
    renameSync(join(copy, name), join(copy, `${name.split('~')[0]!}~free`));
  }
  return copy;
}
