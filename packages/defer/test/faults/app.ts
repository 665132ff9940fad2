// An app as users write it, to be killed: the parent sends requests, this process defers a job for each.
import { Redis } from 'ioredis';
import fastify from 'fastify';
import { createDefer } from '../../src/create-defer.ts';
import { defer } from '../../src/defer.ts';
import { fastifyDefer } from '../../src/adapters/fastify.ts';
import { defineJob } from '../../src/job/job.ts';
import { nodeFs } from '../../src/journal/journal-fs.ts';
import type { Level } from '../../src/job/level.ts';
import type { Sink } from '../../src/sink.ts';
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
  quiet?: boolean;
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
    adoptEveryMs: 50,
    fs: crash === undefined ? nodeFs : crashingFs(crash.call, crash.moment),
  },
  logger: settings.quiet === false ? console : false,
});

const note = defineJob<{ id: string; padding: string }>('note');
const app = fastify();
app.get<{ Params: { id: string } }>('/:id', ({ params: { id } }) => {
  defer(note, { id, padding: 'x'.repeat(100) }, { key: id });
  return { id };
});
app.get('/depth', () => ({ depth: deferrer.lanes.get('jobs')!.depth }));
app.get('/rss', () => {
  // What is kept counts, and not the garbage V8 has not come to yet.
  globalThis.gc?.();
  return { rss: process.memoryUsage.rss() };
});
// Jobs are taken as soon as there is a port; what is orphaned is adopted meanwhile, and may be cut off by the next kill.
await app.register(fastifyDefer, { deferrer });
process.send!({ url: await app.listen({ port: 0, host: '127.0.0.1' }) });
process.on('disconnect', () => process.exit());

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
      const body = JSON.stringify(batch.map(({ key }) => key));
      const { ok } = await fetch(url, { method: 'POST', body, signal });
      if (!ok) throw new Error('The parent refused.');
    },
  };
}

function redisSink(url: string): Sink {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 20 });
  client.on('error', () => {});
  return redisStreams({ client, stream: 'jobs' });
}
