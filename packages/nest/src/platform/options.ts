import type { NestApplicationOptions } from '@nestjs/common';
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { FastifyAdapter } from '@nestjs/platform-fastify';

/** Options of `FastifyAdapter` without the server, which the engine supplies. */
export type FastifyOptions = Omit<
  Exclude<NonNullable<ConstructorParameters<typeof FastifyAdapter>[0]>, { server: unknown }>,
  'serverFactory'
>;

/** Options of `NestFactory.create`, and the platform that runs on the engine. */
export interface RedlineApplicationOptions extends NestApplicationOptions {
  /**
   * The platform of the app: its package must be installed.
   * @default 'fastify'
   */
  adapter?: 'fastify' | 'express';
  /**
   * Options of Fastify itself, as for `new FastifyAdapter(options)`; with `https` or `http2` the server is Node's.
   * @default {}
   */
  fastify?: FastifyOptions;
}
