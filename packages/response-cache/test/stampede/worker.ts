// One of the processes of a stampede: on a message it asks for each key many times at once, and says what it got.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { JsonCache } from '../../src/cache/json-cache.ts';
import { tieredStore } from '../../src/tiered/tiered-store.ts';

/** How a client of a kind of Redis is made. */
export type Servers =
  | { readonly kind: 'single'; readonly port: number }
  | { readonly kind: 'sentinel'; readonly port: number; readonly name: string }
  | { readonly kind: 'cluster'; readonly ports: readonly number[] };

export interface Wave {
  readonly keys: readonly string[];
  readonly callers: number;
  /** How long a run of the producer takes. */
  readonly workMs: number;
}

export interface Got {
  /** How often the producer ran here, by key. */
  readonly runs: Readonly<Record<string, number>>;
  /** The values that callers got, by key. */
  readonly values: Readonly<Record<string, readonly unknown[]>>;
}

const servers = JSON.parse(process.argv[2]!) as Servers;
const client = clientOf(servers);
client.on('error', () => {});
const store = tieredStore(client, { keyPrefix: 'stampede:' });
/* A busy machine must not count as an outage. */
const cache = new JsonCache({ store, ttl: 600_000, logger: false, timeoutMs: 30_000 });
while (!store.isCoherent) await sleep(5);
process.send!('ready');

process.on('message', (wave: Wave) => void run(wave));
process.on('disconnect', () => {
  cache.close();
  client.disconnect();
});

async function run({ keys, callers, workMs }: Wave): Promise<void> {
  const runs: Record<string, number> = {};
  const values: Record<string, Set<unknown>> = {};
  await Promise.all(
    keys.flatMap((key) =>
      Array.from({ length: callers }, async () => {
        const value: unknown = await cache.wrap(key, async () => {
          runs[key] = (runs[key] ?? 0) + 1;
          await sleep(workMs);
          return `${process.pid} ${runs[key]}`;
        });
        (values[key] ??= new Set()).add(value);
      }),
    ),
  );
  const got: Got = {
    runs,
    values: Object.fromEntries(Object.entries(values).map(([key, set]) => [key, [...set]])),
  };
  process.send!(got);
}

function clientOf(of: Servers): Redis | Cluster {
  if (of.kind === 'single') return new Redis(of.port);
  if (of.kind === 'sentinel')
    return new Redis({ sentinels: [{ host: '127.0.0.1', port: of.port }], name: of.name });
  return new Cluster(of.ports.map((port) => ({ host: '127.0.0.1', port })));
}
