// Every request brings jobs to Redis and gets its response when Redis has them all: requests per second times
// `jobsPerRequest` are jobs per second. PRODUCER selects the method; REDIS_URL, or the variable named in REDIS_URL_FROM, the
// server.
import { createServer } from 'node:http';
import { createDefer, defineJob, type Sink } from '@redline/defer';
import { bullmq } from '@redline/defer/sinks/bullmq';
import { redisStreams } from '@redline/defer/sinks/redis-streams';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

const jobsPerRequest = 500;
const data = { method: 'GET', path: '/orders', userAgent: 'a browser', at: 1_790_000_000_000 };
const job = defineJob<typeof data>('write-access');
const { REDIS_URL_FROM: from = 'REDIS_URL', PRODUCER = 'lane', PORT, HOST } = process.env;

const client = new Redis(process.env[from]!, { maxRetriesPerRequest: null });
const queue = new Queue('access', { connection: client });
const each = Array.from({ length: jobsPerRequest });

const producers: Record<string, () => () => Promise<unknown>> = {
  add: () => () => Promise.all(each.map(() => queue.add('write-access', data))),
  addBulk: () => () => queue.addBulk(each.map(() => ({ name: 'write-access', data }))),
  bulk: () => through(bullmq(queue, { lane: 'bulk' })),
  lane: () => through(bullmq(queue)),
  streams: () => through(redisStreams({ client, stream: 'access', maxLength: 1_000_000 })),
};
const produce = producers[PRODUCER]!();

createServer((request, response) => {
  if (request.url === '/probe') {
    client.flushall('ASYNC').then(
      () => response.setHeader('connection', 'close').end('{}'),
      (error: unknown) => response.destroy(error as Error),
    );
    return;
  }
  produce().then(
    () => response.end('taken'),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
}).listen(Number(PORT), HOST);

/** The complete path of an app, at level `sink`: acknowledged by Redis. */
function through(sink: Sink): () => Promise<unknown> {
  const deferrer = createDefer({ sinks: { redis: sink }, level: 'sink' });
  return () => Promise.all(each.map(() => deferrer.defer(job, data).acknowledged()));
}
