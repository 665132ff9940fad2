// An app as users write it, to be killed: the parent sends requests, this process defers jobs for each.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import fastify from 'fastify';
import { createDefer } from '../../src/create-defer.ts';
import { defer } from '../../src/defer.ts';
import { expressDefer } from '../../src/adapters/express.ts';
import { fastifyDefer } from '../../src/adapters/fastify.ts';
import { defineJob } from '../../src/job/job.ts';
import { nodeFs } from '../../src/journal/journal-fs.ts';
import type { Level } from '../../src/job/level.ts';
import { retry, type Delivery, type Sink } from '../../src/sink.ts';
import { redisStreams } from '../../src/sinks/redis-streams.ts';
import { crashingFs } from './crash-fs.ts';

export interface AppSettings {
  directory: string;
  level: Level;
  /** Where jobs go: the parent's own server, a stream of a Redis, or a queue in one. */
  sink: { url: string } | { redis: string } | { queue: string };
  segmentBytes: number;
  /** The call to the file system this process dies at. */
  crash?: { call: number; moment: 'before' | 'within' | 'behind' };
  maxPending?: number;
  /** Of the journal. @default 1 GiB */
  maxBytes?: number;
  delayMs?: number;
  quiet?: boolean;
  /** @default 'fastify' */
  platform?: 'fastify' | 'express';
  /** The first try of every nth job of a burst fails. */
  failEvery?: number;
}

const settings: AppSettings = JSON.parse(process.argv[2]!);
const { crash, sink: target } = settings;

const deferrer = createDefer({
  sinks: {
    jobs: {
      sink: await openSink(),
      breaker: { failures: 2, minMs: 5, maxMs: 50 },
      maxPending: settings.maxPending ?? 10_000,
      sendTimeoutMs: 2_000,
    },
  },
  level: settings.level,
  journal: {
    directory: settings.directory,
    segmentBytes: settings.segmentBytes,
    maxBytes: settings.maxBytes ?? 1 << 30,
    adoptEveryMs: 50,
    fs: crash === undefined ? nodeFs : crashingFs(crash.call, crash.moment),
  },
  logger: settings.quiet === false ? console : false,
});

const note = defineJob<{ id: string; padding: string }>('note');
const padding = 'x'.repeat(100);
const levels: readonly Level[] = ['memory', 'process', 'disk'];

/* What the parent asks for; each request answers below 400 only where its jobs have reached their levels. */
const routes: Record<string, (params: Record<string, string>) => object> = {
  '/depth': () => ({ depth: deferrer.lanes.get('jobs')!.depth }),
  '/rss': () => {
    // What is kept counts, and not the garbage V8 has not come to yet.
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heap: heapUsed };
  },
  '/burst/:first/:count': ({ first, count }) => {
    const begin = Number(first);
    for (let id = begin; id < begin + Number(count); id++) {
      const level = levels[id % levels.length]!;
      defer(note, { id: String(id), padding }, { key: String(id), level });
    }
    return { first };
  },
  '/:id': ({ id }) => {
    const { delayMs } = settings;
    defer(note, { id: id!, padding }, { key: id!, ...(delayMs !== undefined && { delayMs }) });
    return { id };
  },
};
process.send!({ url: await (settings.platform === 'express' ? onExpress() : onFastify()) });
process.on('disconnect', () => process.exit());

async function onFastify(): Promise<string> {
  const app = fastify();
  for (const [path, answer] of Object.entries(routes)) {
    app.get<{ Params: Record<string, string> }>(path, ({ params }) => answer(params));
  }
  // Jobs are taken as soon as there is a port; what is orphaned is adopted meanwhile, and may be cut off by the next kill.
  await app.register(fastifyDefer, { deferrer });
  return app.listen({ port: 0, host: '127.0.0.1' });
}

async function onExpress(): Promise<string> {
  // Only here, as BullMQ below: a process that is killed has little time to load what it does not use.
  const { default: express } = await import('express');
  const app = express();
  app.use(expressDefer(deferrer));
  for (const [path, answer] of Object.entries(routes)) {
    app.get(path, ({ params }, response) => {
      response.json(answer(params as Record<string, string>));
    });
  }
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openSink(): Promise<Sink> {
  if ('url' in target) return httpSink(target.url);
  if ('redis' in target) return redisSink(target.redis);
  // Only here: it takes longer to load than all else.
  const [{ Queue }, { bullmq }] = await Promise.all([
    import('bullmq'),
    import('../../src/sinks/bullmq.ts'),
  ]);
  const queue = new Queue('jobs', { connection: { url: target.queue } });
  queue.on('error', () => {});
  return bullmq(queue);
}

function httpSink(url: string): Sink {
  return {
    kind: 'parent',
    async send(batch, signal) {
      const { failEvery } = settings;
      const results = batch.map(({ key, attempt }) =>
        failEvery !== undefined && attempt === 1 && Number(key) % failEvery === 0
          ? retry(new Error('Not yet.'))
          : undefined,
      );
      const body = JSON.stringify(
        batch
          .filter((_, at) => results[at] === undefined)
          .map((each) => (isEarly(each) ? 'early' : each.key)),
      );
      const { ok } = await fetch(url, { method: 'POST', body, signal });
      if (!ok) throw new Error('The parent refused.');
      return results;
    },
  };
}

/* Timers, and the two clocks, are not of one opinion about the last milliseconds. */
function isEarly({ runAtMs = 0 }: Delivery): boolean {
  return runAtMs > Date.now() + 100;
}

function redisSink(url: string): Sink {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 20 });
  client.on('error', () => {});
  return redisStreams({ client, stream: 'jobs' });
}
