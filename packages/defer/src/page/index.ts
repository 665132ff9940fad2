import type { Deferrer } from '../deferrer.ts';
import type { SinkStats } from '../sink-queue/sink-stats.ts';
import { journalsIn, type PageSource, type SinkRow } from './source.ts';
import type { FastifyPluginAsync } from 'fastify';
import { pageHandler, type PageHandler } from './handler.ts';

/** Page source for a running deferrer in the same process. */
export function deferrerSource(deferrer: Deferrer, title: string): PageSource {
  const { deadLetters, keys, options } = deferrer;
  const directory = options.journal?.directory;
  return {
    title,
    async read() {
      const { sinks } = deferrer.stats();
      return {
        sinks: sinks.map(rowOf),
        jobs: sinks.flatMap(({ name, jobs }) => jobs.map((job) => ({ ...job, sink: name }))),
        journals: directory === undefined ? [] : await journalsIn(directory, keys),
        letters: await deadLetters.list(),
        unreadable: await deadLetters.unreadable(),
      };
    },
    async requeue(which) {
      if (!('id' in which)) return deadLetters.requeueAll(which);
      return (await deadLetters.requeue(which.id)) ? 1 : 0;
    },
    async remove(which) {
      if ('id' in which) return (await deadLetters.remove(which.id)) ? 1 : 0;
      let removed = 0;
      for (const { record } of await deadLetters.list()) {
        if (record.job !== which.job || record.sink !== which.sink) continue;
        if (await deadLetters.remove(record.id)) removed++;
      }
      return removed;
    },
  };
}

function rowOf({ dropped, ...stats }: SinkStats): SinkRow {
  return { ...stats, dropped: Object.values(dropped).reduce((sum, count) => sum + count, 0) };
}

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
