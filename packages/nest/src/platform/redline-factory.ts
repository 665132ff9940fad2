import { type INestApplication, Logger } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { engine, serverFactory } from '@redline/http';

import { PlatformError } from './errors.ts';
import { onEngine } from './express-adapter.ts';
import type { FastifyOptions, RedlineApplicationOptions } from './options.ts';

/** `NestFactory` for applications on the HTTP engine of `@redline/http`. */
export const RedlineFactory = {
  /**
   * Creates an application as `NestFactory.create` does, whose HTTP server is the engine's. Where the engine cannot
   * load, node:http serves it; the log says so with the reason when the app is made, and so does `engine()`.
   *
   * @throws {PlatformError} ERR_REDLINE_PLATFORM_OPTION, ERR_REDLINE_PLATFORM_MISSING
   * @example
   * const app = await RedlineFactory.create(AppModule, { bufferLogs: true });
   * await app.listen(3000);
   */
  async create<Application extends INestApplication = NestFastifyApplication>(
    module: Parameters<typeof NestFactory.create>[0],
    options: RedlineApplicationOptions = {},
  ): Promise<Application> {
    if (isAdapter(options) || isAdapter(options.adapter)) throw notItsOwn();
    const { adapter = 'fastify', fastify = {}, ...nest } = options;
    const made = await createAdapter(adapter, fastify);
    const app = await NestFactory.create<Application>(module, made, nest);
    new Logger('RedlineFactory').log(whoServes(options));
    return app;
  },
} as const;

function whoServes({ fastify, httpsOptions }: RedlineApplicationOptions): string {
  const { https, http2 } = (fastify ?? {}) as { https?: unknown; http2?: unknown };
  if (https || http2 || httpsOptions) return 'HTTP is served by Node: TLS and HTTP/2 are its own.';
  const serving = engine();
  return serving.name === 'native'
    ? 'HTTP is served by the native engine.'
    : `HTTP is served by node:http: ${serving.reason}.`;
}

function isAdapter(value: unknown): boolean {
  return typeof (value as Partial<AbstractHttpAdapter> | undefined)?.initHttpServer === 'function';
}

function notItsOwn(): PlatformError {
  return new PlatformError(
    'ERR_REDLINE_PLATFORM_OPTION',
    "RedlineFactory makes the adapter itself: give it { adapter: 'fastify', fastify: options } in place of an adapter. For an adapter of your own, use NestFactory with new FastifyAdapter({ serverFactory }), serverFactory from @redline/http.",
  );
}

async function createAdapter(name: unknown, options: FastifyOptions): Promise<AbstractHttpAdapter> {
  switch (name) {
    case 'fastify': {
      const { FastifyAdapter } = await load(() => import('@nestjs/platform-fastify'), name);
      return new FastifyAdapter({ ...options, serverFactory } as never) as never;
    }
    case 'express': {
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
