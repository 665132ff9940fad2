// `npm run bench -- coherence`: how soon does another process know of an invalidation? One process creates a response and
// invalidates its tag; another has it in the memory of its `tieredStore`, and reports when it was dropped there. Both read
// the machine's clock. Times are measured from the call of `invalidate`, and from its acknowledgement.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, cpus } from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { JsonCache, tieredStore } from '@redline/response-cache';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import { writeResult } from '../write-result.ts';

const tag = 'product:1';
const port = process.env.COHERENCE_PORT;

if (port === undefined) await invalidateOften();
else await read(Number(port));

/** The other process: loads the response into its memory on request, and reports when it was dropped. */
async function read(redisPort: number): Promise<void> {
  const client = new Redis(redisPort);
  await once(client, 'ready');
  const store = tieredStore(client);
  const cache = new JsonCache({ store, ttl: 600_000, logger: false });
  const ask = (): unknown => cache.answer('key', () => ({ id: 1 }), { tags: [tag] });
  store.drops.watch(() => process.send!({ droppedAt: now() }));
  process.on('message', () => void hold().then(() => process.send!({})));
  process.send!({});

  /** Asks twice: a new response is only in Redis; one that was read is in memory, and Redis reports its changes. */
  async function hold(): Promise<void> {
    await ask();
    await sleep(2);
    await ask();
    await sleep(2);
  }
}

async function invalidateOften(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '2000' },
      json: { type: 'string', default: 'redline-out/coherence.json' },
    },
  });
  const redis = await startRedis();
  if (redis === undefined) throw new Error('redis-server 7 is not on PATH.');
  const client = new Redis(redis.port);
  await once(client, 'ready');
  const cache = new JsonCache({ store: tieredStore(client), ttl: 600_000, logger: false });
  const reader = fork(import.meta.filename, {
    env: { ...process.env, COHERENCE_PORT: String(redis.port) },
  });
  try {
    await once(reader, 'message');
    const rounds = Number(values.rounds);
    const all: { sinceCall: number; sinceAcknowledged: number }[] = [];
    for (let round = 0; round < rounds; round++) all.push(await oneRound(cache, reader));
    const result = {
      startedAt: new Date().toISOString(),
      machine: { cpuModel: cpus()[0]?.model, cores: availableParallelism(), node: process.version },
      rounds,
      sinceCallMs: quantiles(all.map(({ sinceCall }) => sinceCall)),
      sinceAcknowledgedMs: quantiles(all.map(({ sinceAcknowledged }) => sinceAcknowledged)),
    };
    writeResult(values.json, result);
    process.stdout.write(
      `${rounds} invalidations; ms until another process has dropped the response\n` +
        `since the call              ${textOf(result.sinceCallMs)}\n` +
        `since it was acknowledged   ${textOf(result.sinceAcknowledgedMs)}\n`,
    );
  } finally {
    reader.kill();
    await once(reader, 'exit');
    client.disconnect();
    await redis.stop();
  }
  // The cache has its own connection, which briefly outlives the client.
  process.exit();
}

async function oneRound(
  cache: JsonCache,
  reader: ChildProcess,
): Promise<{ sinceCall: number; sinceAcknowledged: number }> {
  reader.send('read');
  await next(reader, (message) => message.droppedAt === undefined);
  const calledAt = now();
  const dropped = next(reader, ({ droppedAt = 0 }) => droppedAt >= calledAt);
  await cache.invalidate(tag);
  const acknowledgedAt = now();
  const { droppedAt } = await dropped;
  return { sinceCall: droppedAt! - calledAt, sinceAcknowledged: droppedAt! - acknowledgedAt };
}

/** Waits for the next message of that kind. */
function next(
  reader: ChildProcess,
  isMeant: (message: { droppedAt?: number }) => boolean,
): Promise<{ droppedAt?: number }> {
  return new Promise((resolve) => {
    const onMessage = (message: { droppedAt?: number }): void => {
      if (!isMeant(message)) return;
      reader.off('message', onMessage);
      resolve(message);
    };
    reader.on('message', onMessage);
  });
}

function quantiles(times: number[]): { p50: number; p90: number; p99: number; most: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), most: at(1) };
}

function textOf({ p50, p90, p99, most }: ReturnType<typeof quantiles>): string {
  const text = (ms: number): string => ms.toFixed(2);
  return `p50 ${text(p50)}   p90 ${text(p90)}   p99 ${text(p99)}   most ${text(most)}`;
}

/** Returns ms on a clock that all processes of the machine share. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
