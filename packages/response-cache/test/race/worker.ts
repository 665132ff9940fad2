// One process of the race: it reads and writes at random, and says at the end what it has seen.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { Answer } from '../../src/answer/answer.ts';
import { JsonCache } from '../../src/cache/json-cache.ts';
import { NearReads } from '../../src/tiered/near-cache.ts';
import { RedisTagVersions } from '../../src/redis/redis-tag-versions.ts';
import { TieredStore, tieredStore } from '../../src/tiered/tiered-store.ts';

export interface Seen {
  /** The last time each version of each key was asked for and given. */
  readonly reads: Record<string, number>;
  /** When the invalidation behind each version of each key was acknowledged. */
  readonly writes: Record<string, number>;
  readonly readCount: number;
  /** The longest read, without the time in which the process itself stood still. */
  readonly slowestMs: number;
}

const [portsText, secondsText, without, timeoutText] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
];
const keyCount = 60;
const readers = 24;
/* A key is left alone for a while after most writes, so that what is stale stays visible. */
const writePauseMs = 12;
/* On a crowded machine the time is over before there was much to see: it goes on until there was. */
const minWrites = 10;
/* What stays stale is found by then. */
const readOnMs = 1_500;

if (without === 'tickets') {
  NearReads.prototype.void = () => {};
  NearReads.prototype.voidAll = () => {};
  RedisTagVersions.prototype.ticket = async () => Number.MAX_SAFE_INTEGER;
}
if (without === 'leases') {
  (TieredStore.prototype as { lease?: unknown }).lease = undefined;
}

/* The database, and then the nodes of the Cluster where there is one. */
const [databasePort, ...nodes] = portsText.split(',').map(Number) as [number, ...number[]];
const client =
  nodes.length === 0
    ? new Redis(databasePort, { enableAutoPipelining: true })
    : new Cluster(nodes.map((port) => ({ host: '127.0.0.1', port })));
const database = new Redis(databasePort, { db: 1 });
for (const each of [client, database]) each.on('error', () => {});
const store = tieredStore(client, { keyPrefix: 'race:' });
const cache = new JsonCache({ store, ttl: 600_000, logger: false, timeoutMs: Number(timeoutText) });

const reads: Record<string, number> = {};
const writes: Record<string, number> = {};
let readCount = 0;
let slowestMs = 0;
/* The same for all processes of the machine. */
const now = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
const writesUntil = now() + Number(secondsText) * 1_000 - readOnMs;
let endsAt = Infinity;
const anyKey = (): string => `k${Math.floor(Math.random() * keyCount)}`;
const tagOf = (key: string): string[] => (Number(key.slice(1)) % 2 === 0 ? [] : [`tag:${key}`]);

/*
 * On a crowded machine a process stands still for longer than a message travels. So a read counts from the last time its
 * process has looked at its sockets, which is when it could know.
 */
let lookedAt = now();
let stoodStillMs = 0;
setInterval(() => {
  const at = now();
  stoodStillMs += Math.max(0, at - lookedAt - 20);
  setImmediate(() => (lookedAt = at));
}, 1).unref();

async function read(): Promise<void> {
  while (now() < endsAt) {
    const key = anyKey();
    const askedAt = lookedAt;
    const [since, stoodStillBefore] = [now(), stoodStillMs];
    const tags = tagOf(key);
    const answer = await cache.answer(
      key,
      async () => {
        const version = Number((await database.get(key)) ?? 0);
        if (Math.random() < 0.5) await sleep(Math.random() * 25);
        return version;
      },
      tags.length === 0 ? {} : { tags },
    );
    slowestMs = Math.max(slowestMs, now() - since - (stoodStillMs - stoodStillBefore));
    const version = answer instanceof Answer ? answer.json : String(answer);
    const what = `${key} ${version}`;
    reads[what] = Math.max(reads[what] ?? 0, askedAt);
    readCount += 1;
    if (readCount % 4 === 0) await sleep(1);
  }
}

async function write(): Promise<void> {
  let key = anyKey();
  while (now() < writesUntil || Object.keys(writes).length < minWrites) {
    // Often once more, while what the first one has undone is being made.
    if (Math.random() < 0.4) key = anyKey();
    try {
      const version = await database.incr(key);
      const tags = tagOf(key);
      if (tags.length === 0) await cache.delete(key);
      else await cache.invalidate(tags);
      writes[`${key} ${version}`] = now();
    } catch {
      // Not acknowledged.
    }
    await sleep(Math.random() * writePauseMs * 2);
  }
  endsAt = now() + readOnMs;
}

await Promise.all([write(), ...Array.from({ length: readers }, read)]);
cache.close();
client.disconnect();
database.disconnect();
process.send!({ reads, writes, readCount, slowestMs } satisfies Seen, () => process.disconnect());
