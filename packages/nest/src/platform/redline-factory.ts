import type { INestApplication } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { serverFactory } from '@redline/http';

import { PlatformError } from './errors.ts';
import { onEngine } from './express-adapter.ts';
import type { FastifyOptions, RedlineApplicationOptions } from './options.ts';

/** `NestFactory` for applications on the HTTP engine of `@redline/http`. */
export const RedlineFactory = {
  /**
   * Creates an application as `NestFactory.create` does, whose HTTP server is the engine's. Where the engine cannot
   * load, node:http serves it; `engine()` of `@redline/http` tells why.
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
    const { adapter = 'fastify', fastify = {}, ...nest } = options;
    return NestFactory.create<Application>(module, await createAdapter(adapter, fastify), nest);
  },
} as const;

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
