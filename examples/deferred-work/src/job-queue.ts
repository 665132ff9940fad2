import { setTimeout as sleep } from 'node:timers/promises';
import type { SinkQueueOptions } from '@redline/defer';
import { bullmq } from '@redline/defer/sinks/bullmq';
import { handlers } from '@redline/defer/sinks/handlers';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { AccessRecord } from './access-record.ts';

/** Where records go: one at a time as the article sends them, and as a sink of ours. */
export interface JobQueue {
  add(record: AccessRecord): Promise<unknown>;
  sink(): SinkQueueOptions;
  /** Discards the jobs that have arrived: no worker runs here. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/**
 * `SINK`: `delay5` and the like take so many milliseconds for each record, `none` takes a batch at once and does nothing;
 * anything else is a BullMQ queue in `REDIS_URL`.
 */
export function openQueue(): JobQueue {
  if (process.env.SINK === 'none') return noQueue;
  const delay = /^delay(\d+)$/.exec(process.env.SINK ?? '')?.[1];
  return delay === undefined ? redisQueue(redisUrl()) : delayQueue(Number(delay));
}

/** `REDIS_URL`, or what the variable says that `REDIS_URL_FROM` names. */
function redisUrl(): string {
  const { REDIS_URL_FROM: from, REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
  return (from === undefined ? undefined : process.env[from]) ?? REDIS_URL;
}

/** Drops each record, which leaves the cost of getting it here. */
const noQueue: JobQueue = {
  add: async () => {},
  sink: () => ({ sink: { kind: 'none', send: async () => {} } }),
  empty: async () => {},
  close: async () => {},
};

function delayQueue(delayMs: number): JobQueue {
  const add = (): Promise<void> => sleep(delayMs);
  return {
    add,
    // As many at a time as the interceptor would have: it sets itself no bound.
    sink: () => ({ sink: handlers({ 'write-access': add }, { concurrency: 500 }) }),
    empty: async () => {},
    close: async () => {},
  };
}

function redisQueue(url: string): JobQueue {
  const client = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue<AccessRecord>('access', { connection: client });
  // Both try again by themselves, and would print each try.
  for (const each of [client, queue]) each.on('error', () => {});
  return {
    add: (record) => queue.add('write-access', record),
    sink: () => ({ sink: bullmq(queue) }),
    async empty() {
      // Without a Redis the command would wait for one.
      if (client.status === 'ready') await client.flushall('ASYNC');
    },
    async close() {
      await queue.close();
      await client.quit();
    },
  };
}
