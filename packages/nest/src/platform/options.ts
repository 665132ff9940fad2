import type { NestApplicationOptions } from '@nestjs/common';
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { FastifyAdapter } from '@nestjs/platform-fastify';

/** What `FastifyAdapter` takes, without the server: that is the engine's part. */
export type FastifyOptions = Omit<
  Exclude<NonNullable<ConstructorParameters<typeof FastifyAdapter>[0]>, { server: unknown }>,
  'serverFactory'
>;

/** Options of `NestFactory.create`, and what the engine is put under. */
export interface RedlineApplicationOptions extends NestApplicationOptions {
  /**
   * The platform that answers: its package must be installed.
   * @default 'fastify'
   */
  adapter?: 'fastify' | 'express';
  /**
   * Options of Fastify itself, as for `new FastifyAdapter(options)`; with `https` or `http2` the server is Node's.
   * @default {}
   */
  fastify?: FastifyOptions;
}
