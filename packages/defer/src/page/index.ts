import type { FastifyPluginAsync } from 'fastify';
import type { Deferrer } from '../deferrer.ts';
import { deferrerSource } from './deferrer-source.ts';
import { pageHandler, type PageHandler } from './handler.ts';

export type { PageHandler } from './handler.ts';

export interface DeferPageOptions {
  /** @default 'Deferred work' */
  title?: string;
}

/**
 * A page that shows sinks, journals and dead letters, and can requeue or delete the latter. It shows the data of jobs
 * and has no authentication: put it behind the app's own.
 *
 * @example
 * ```ts
 * app.use('/admin/defer', requireAdmin, deferPage(deferrer)); // Express, and Nest on either adapter
 * ```
 */
export function deferPage(
  deferrer: Deferrer,
  { title = 'Deferred work' }: DeferPageOptions = {},
): PageHandler {
  return pageHandler(deferrerSource(deferrer, title));
}

export interface FastifyDeferPageOptions extends DeferPageOptions {
  deferrer: Deferrer;
}

/**
 * The page for Fastify, under the `prefix` with which it is registered.
 *
 * @example
 * ```ts
 * app.register(fastifyDeferPage, { deferrer, prefix: '/admin/defer' });
 * ```
 */
export const fastifyDeferPage: FastifyPluginAsync<FastifyDeferPageOptions> = async (
  app,
  { deferrer, ...options },
) => {
  const page = deferPage(deferrer, options);
  // The page parses its forms itself; this affects its own scope only.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.route({
    method: ['GET', 'POST'],
    url: '/',
    handler(request, reply) {
      reply.hijack();
      page(request.raw, reply.raw);
    },
  });
};
