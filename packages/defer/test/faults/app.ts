// An app as users write it, to be killed: the parent sends requests, this process defers jobs for each.
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
// By its name, as `@redline/nest` has it: of one copy all requests are.
import {
  defer,
  defineJob,
  nodeFs,
  retry,
  type Deferrer,
  type Delivery,
  type Level,
  type SealOptions,
  type Sink,
} from '@redline/defer';
import { redisStreams } from '@redline/defer/sinks/redis-streams';
import { crashingFs } from './crash-fs.ts';
import { startOn, type Platform, type Routes } from './platforms.ts';

export interface AppSettings {
  directory: string;
  level: Level;
  /** The sink: the parent's own server, a stream or a queue in a Redis, or another server. */
  sink:
    | { url: string }
    | { redis: string }
    | { queue: string }
    | { postgres: string }
    | { rabbitmq: string }
    | { nats: string }
    | { kafka: string };
  segmentBytes: number;
  /** The call to the file system this process dies at. */
  crash?: { call: number; moment: 'before' | 'within' | 'behind' };
  maxPending?: number;
  /** Of the journal. @default 1 GiB */
  maxBytes?: number;
  /** @default 1 minute */
  replayWindowMs?: number;
  delayMs?: number;
  /** The journal is sealed, by keys of this name. */
  seal?: string;
  quiet?: boolean;
  /** @default 'fastify' */
  platform?: Platform;
  /** The first try of every nth job of a burst fails. */
  failEvery?: number;
}

const settings: AppSettings = JSON.parse(process.argv[2]!);
const { crash, sink: target } = settings;

const options = {
  sinks: {
    jobs: {
      sink: await openSink(),
      breaker: { failures: 2, minMs: 5, maxMs: 50 },
      maxPending: settings.maxPending ?? 10_000,
      sendTimeoutMs: 2_000,
    },
  },
  // Nest has one for its methods, too.
  sink: 'jobs',
  level: settings.level,
  journal: {
    directory: settings.directory,
    segmentBytes: settings.segmentBytes,
    maxBytes: settings.maxBytes ?? 1 << 30,
    replayWindowMs: settings.replayWindowMs ?? 60_000,
    adoptEveryMs: 50,
    ...(settings.seal !== undefined && { seal: sealWith(settings.seal) }),
    fs: crash === undefined ? nodeFs : crashingFs(crash.call, crash.moment),
  },
  logger: settings.quiet === false ? console : false,
} as const;
let deferrer: Deferrer;

const note = defineJob<{ id: string; padding: string }>('note');
const padding = 'x'.repeat(100);
const levels: readonly Level[] = ['memory', 'process', 'disk'];

/* What the parent asks for; each request answers below 400 only where its jobs have reached their levels. */
const routes: Routes = {
  '/depth': () => ({ depth: deferrer.queues.get('jobs')!.depth }),
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
const app = await startOn(settings.platform ?? 'fastify', options, routes);
({ deferrer } = app);
process.send!({ url: app.url });
process.on('disconnect', () => process.exit());

async function openSink(): Promise<Sink> {
  if ('url' in target) return httpSink(target.url);
  if ('redis' in target) return redisSink(target.redis);
  if ('postgres' in target) return postgresSink(target.postgres);
  if ('rabbitmq' in target) {
    const { rabbitmq } = await import('@redline/defer/sinks/rabbitmq');
    return rabbitmq({
      connect: target.rabbitmq,
      routingKey: 'jobs',
      setup: (channel) => channel.assertQueue('jobs', { durable: true }),
    });
  }
  if ('nats' in target) {
    const { nats } = await import('@redline/defer/sinks/nats');
    return nats({ connect: { servers: target.nats, reconnectTimeWait: 50 }, subject: 'jobs.new' });
  }
  if ('kafka' in target) {
    const { kafka } = await import('@redline/defer/sinks/kafka');
    const producer = { clientId: 'evening', bootstrapBrokers: [target.kafka] };
    return kafka({ topic: 'jobs', producer });
  }
  // Only here: it takes longer to load than all else.
  const [{ Queue }, { bullmq }] = await Promise.all([
    import('bullmq'),
    import('@redline/defer/sinks/bullmq'),
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

async function postgresSink(url: string): Promise<Sink> {
  const [{ Pool }, { postgres }] = await Promise.all([
    import('pg'),
    import('@redline/defer/sinks/postgres'),
  ]);
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  return postgres({ pool });
}

function sealWith(name: string): SealOptions {
  const keyOf = (id: string): Buffer => createHash('sha256').update(id).digest();
  return {
    currentKey: async () => ({ id: name, key: keyOf(name) }),
    keyOf: async (id) => keyOf(id),
  };
}

function redisSink(url: string): Sink {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 20 });
  client.on('error', () => {});
  return redisStreams({ client, stream: 'jobs' });
}
