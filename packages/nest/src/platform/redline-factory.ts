import type { RequestListener, Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

import { type INestApplication, Logger, type NestApplicationOptions } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createServer, engine, serverFactory } from '@redline/http';

import { notAnObject } from '../unknown-option.ts';
import type { FastifyOptions, RedlineApplicationOptions } from './options.ts';
import { PlatformError } from './errors.ts';

/** `NestFactory` for applications on the HTTP engine of `@redline/http`. */
export const RedlineFactory = {
  /**
   * Creates an application like `NestFactory.create`, with the HTTP server of the engine. If the engine cannot
   * serve, Node does; once the app listens, the log says which of them serves and why, and so does
   * `engine(app.getHttpServer())`.
   *
   * @throws {PlatformError} ERR_REDLINE_PLATFORM_OPTION, ERR_REDLINE_PLATFORM_MISSING
   * @example const app = await RedlineFactory.create(AppModule, { bufferLogs: true }); await app.listen(3000);
   */
  async create<Application extends INestApplication = NestFastifyApplication>(
    module: Parameters<typeof NestFactory.create>[0],
    options: RedlineApplicationOptions = {},
  ): Promise<Application> {
    const given = asAdapter(options) ?? asAdapter(options?.adapter);
    if (given !== undefined) throw madeAlready(given);
    requireObject('RedlineFactory', options);
    if (options.fastify !== undefined) requireObject('Fastify', options.fastify);
    const { adapter = 'fastify', fastify, ...nest } = options;
    const made = await createAdapter(adapter, fastify);
    const app = await NestFactory.create<Application>(module, made, nest);
    const server = app.getHttpServer() as Server;
    // Not earlier: the engine does not serve a server that is not listening.
    server.once('listening', () => new Logger('RedlineFactory').log(whoServes(server)));
    return app;
  },
} as const;

function requireObject(of: string, options: unknown): void {
  const wrong = notAnObject(of, options);
  if (wrong !== undefined) throw new PlatformError('ERR_REDLINE_PLATFORM_OPTION', wrong);
}

function whoServes(server: Server): string {
  const serving = engine(server);
  return serving.name === 'native'
    ? 'HTTP is served by the native engine.'
    : `HTTP is served by Node: ${serving.reason}.`;
}

function asAdapter(value: unknown): AbstractHttpAdapter | undefined {
  const adapter = value as AbstractHttpAdapter | undefined;
  return typeof adapter?.initHttpServer === 'function' ? adapter : undefined;
}

function madeAlready(adapter: AbstractHttpAdapter): PlatformError {
  const { name } = adapter.constructor;
  const instead =
    adapter.getType() === 'express'
      ? "give RedlineFactory { adapter: 'express' }. To keep an adapter of your own, use NestFactory and start with: node --import @redline/http/register"
      : "give RedlineFactory { adapter: 'fastify', fastify: options }. To keep an adapter of your own, use NestFactory with new FastifyAdapter({ serverFactory }), serverFactory from @redline/http";
  return new PlatformError(
    'ERR_REDLINE_PLATFORM_OPTION',
    `RedlineFactory creates the adapter itself but was given a ${name}: ${instead}.`,
  );
}

async function createAdapter(
  name: unknown,
  options: FastifyOptions | undefined,
): Promise<AbstractHttpAdapter> {
  switch (name) {
    case 'fastify': {
      const { FastifyAdapter } = await load(() => import('@nestjs/platform-fastify'), name);
      return new FastifyAdapter({ ...options, serverFactory } as never) as never;
    }
    case 'express': {
      if (options !== undefined) {
        throw new PlatformError(
          'ERR_REDLINE_PLATFORM_OPTION',
          "The option fastify is for adapter: 'fastify', but the adapter is 'express': omit one of them.",
        );
      }
      const { ExpressAdapter } = await load(() => import('@nestjs/platform-express'), name);
      return onEngine(ExpressAdapter as never);
    }
    default:
      throw new PlatformError(
        'ERR_REDLINE_PLATFORM_OPTION',
        `adapter is ${describe(name)}; it must be 'fastify' or 'express'. An adapter of your own takes the engine as its serverFactory: see @redline/http.`,
      );
  }
}

async function load<Module>(importIt: () => Promise<Module>, name: string): Promise<Module> {
  try {
    return await importIt();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new PlatformError(
      'ERR_REDLINE_PLATFORM_MISSING',
      `@nestjs/platform-${name} is not installed. Run: npm install @nestjs/platform-${name}`,
      { cause: error },
    );
  }
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : typeof value;
}

/** The part of Nest's `ExpressAdapter` that is used; its package is not installed in an app on Fastify. */
interface ServerMaker {
  httpServer: HttpServer;
  getInstance(): RequestListener;
  initHttpServer(options: NestApplicationOptions | undefined): void;
  trackOpenConnections(): void;
}

/** Creates an adapter on the engine. Nest's adapter creates its server itself, so that method is replaced. */
export function onEngine(Adapter: new () => AbstractHttpAdapter): AbstractHttpAdapter {
  const Base = Adapter as unknown as new () => ServerMaker;
  class EngineExpressAdapter extends Base {
    override initHttpServer(options: NestApplicationOptions | undefined): void {
      // Node serves TLS.
      if (options?.httpsOptions) return super.initHttpServer(options);
      super.initHttpServer({ ...options, forceCloseConnections: false });
      this.httpServer = createServer(this.getInstance());
      if (options?.forceCloseConnections) this.trackOpenConnections();
    }
  }
  return new EngineExpressAdapter() as unknown as AbstractHttpAdapter;
}
