import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import { until } from '@redline/services/until';
import { temporaryFolder } from '../harness.ts';
import type { AppSettings } from './app.ts';
import { kill, KeyServer, Load, seededRandom, startApp } from './kill-trials.ts';
import { platforms, type Platform } from './platforms.ts';

// Of all four frameworks in turn: 8 kills in `npm test`, 100 in `npm run test:all`; `npm run test:faults` sets 1,000.
const kills = Number(process.env.REDLINE_DEFER_KILLS ?? 8);
const seed = Number(process.env.REDLINE_DEFER_SEED ?? Math.floor(Math.random() * 2 ** 31));
const moments = ['before', 'within', 'behind'] as const;
const killsPerRound = kills < 10 ? 5 : 10;
/** Longer than a round: what a killed Redis had acknowledged in it is sent again, however slow the machine. */
const replayWindowMs = 3_600_000;
const small = 16 << 10;

function platformOf(trial: number): Platform {
  return platforms[trial % platforms.length]!;
}

describe(`of all that was acknowledged nothing is lost (seed ${seed})`, { concurrency: 2 }, () => {
  const share = Math.ceil(kills * 0.3);
  test(`in ${share} kills of the app at a random moment`, async (t) => {
    await killApps(t, share, seed, (random) => ({ afterMs: random() * 250 }));
  });

  test(`in ${share} kills of the app at a call to the file system: sync, rotation, recovery`, async (t) => {
    await killApps(t, share, seed + 1, (random) => ({
      crash: {
        call: 1 + Math.floor(random() ** 2 * 400),
        moment: moments[Math.floor(random() * 3)]!,
      },
    }));
  });

  const once = Math.ceil(kills * 0.1);
  test(`in ${once} kills of the app, and a queue that dedupes has each job once`, async (t) => {
    await killBesideQueue(t, once, seed + 2);
  });

  const rest = Math.max(killsPerRound, kills - 2 * share - once);
  test(`in ${rest} kills of the app, of a Redis that keeps nothing, and of both`, async (t) => {
    for (let round = 0; round * killsPerRound < rest; round++) {
      if (!(await killWithRedis(t, seed + 3 + round))) return;
    }
  });
});

async function killApps(
  t: TestContext,
  count: number,
  roundSeed: number,
  next: (random: () => number) => { afterMs?: number; crash?: AppSettings['crash'] },
): Promise<void> {
  const random = seededRandom(roundSeed);
  const directory = temporaryFolder(t);
  const server = new KeyServer(new Map<string, number>());
  const settings = (level: 'process' | 'disk'): AppSettings => ({
    directory,
    level,
    sink: { url },
    segmentBytes: small,
  });
  const url = await server.listen();
  t.after(() => server.close());
  const acknowledged: Load[] = [];
  const died = new Deaths();
  // A crowded machine may have sent no response by the first moments.
  const isIdle = (): boolean => acknowledged.every((load) => load.acknowledged.size === 0);
  for (let trial = 0; trial < count || (isIdle() && trial < 5 * count); trial++) {
    const { afterMs = 600, crash } = next(random);
    // Now and then the sink is away, so that recovery finds a backlog.
    server.isUp = random() < 0.7;
    const level = random() < 0.5 ? 'process' : 'disk';
    const platform = platformOf(trial);
    const app = await startApp({ ...settings(level), platform, ...(crash && { crash }) });
    died.apps++;
    if (app === undefined) continue;
    const load = new Load(app.url, 16);
    acknowledged.push(load);
    const ended = new Promise((resolve) => void app.child.once('exit', resolve));
    if (!hasEnded(app.child)) {
      // A trial too many is there for a response, however slow the machine.
      if (trial >= count)
        await until('an answer', () => load.acknowledged.size > 0 || hasEnded(app.child));
      await Promise.race([sleep(afterMs), ended]);
    }
    await kill(app);
    await load.stop();
  }
  server.isUp = true;
  const last = (await startApp(settings('process')))!;
  t.after(() => kill(last));
  await findAll(t, acknowledged, async () => new Set(server.received.keys()));
  died.report(t, [...server.received.values()]);
  await kill(last);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** What was done, for the log. */
class Deaths {
  apps = 0;
  redises = 0;

  /** `times`: how often each job came. A sink without identities has again what was on its way at a death. */
  report(t: TestContext, times: readonly number[]): void {
    const again = times.filter((each) => each > 1).length;
    t.diagnostic(
      `${this.apps} kills of the app, ${this.redises} of Redis; ${times.length} jobs arrived, ${again} of them more than once`,
    );
  }
}

async function killBesideQueue(t: TestContext, count: number, roundSeed: number): Promise<void> {
  const redis = await startRedis();
  if (redis === undefined) return t.skip('No redis-server or valkey-server on PATH.');
  t.after(() => redis.stop());
  const client = new Redis(redis.url);
  client.on('error', () => {});
  t.after(() => client.disconnect());
  const random = seededRandom(roundSeed);
  const settings: AppSettings = {
    directory: temporaryFolder(t),
    level: 'process',
    sink: { queue: redis.url },
    segmentBytes: small,
  };
  const acknowledged: Load[] = [];
  const died = new Deaths();
  for (let trial = 0; trial < count; trial++) {
    // Where there are few, others than above.
    const platform = platformOf(trial + 2);
    const app = (await startApp({ ...settings, platform }))!;
    t.after(() => kill(app));
    const load = new Load(app.url, 16);
    acknowledged.push(load);
    await until('an answer', () => load.acknowledged.size > 0);
    await sleep(random() * 180);
    await kill(app);
    died.apps++;
    await load.stop();
  }
  const last = (await startApp(settings))!;
  t.after(() => kill(last));
  const ids = async (): Promise<string[]> => {
    const all = await client.lrange('bull:jobs:wait', 0, -1);
    return all.map((id) => id.replace('note~', ''));
  };
  await findAll(t, acknowledged, async () => new Set(await ids()));
  // What was sent twice is there by now, too.
  await until('the end of the backlog', async () => {
    const answer = await fetch(`${last.url}/depth`);
    return ((await answer.json()) as { depth: number }).depth === 0;
  });
  const all = await ids();
  died.report(t, timesOf(all));
  assert.equal(new Set(all).size, all.length);
  await kill(last);
}

async function killWithRedis(t: TestContext, roundSeed: number): Promise<boolean> {
  const redis = await startRedis();
  if (redis === undefined) {
    t.skip('No redis-server or valkey-server on PATH.');
    return false;
  }
  const random = seededRandom(roundSeed);
  const directory = temporaryFolder(t);
  const settings: AppSettings = {
    directory,
    level: 'process',
    sink: { redis: redis.url },
    segmentBytes: small,
    replayWindowMs,
  };
  const client = new Redis(redis.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {});
  const acknowledged: Load[] = [];
  const died = new Deaths();
  const start = (trial: number) => startApp({ ...settings, platform: platformOf(trial) });
  let app = (await start(roundSeed))!;
  try {
    for (let trial = 0; trial < killsPerRound; trial++) {
      const load = new Load(app.url, 16);
      acknowledged.push(load);
      // At least one is acknowledged in a round, however slow the machine.
      if (trial === 0) await until('an answer', () => load.acknowledged.size > 0);
      await sleep(20 + random() * 120);
      const which = random();
      if (which < 0.7) {
        await redis.kill();
        died.redises++;
      }
      await sleep(random() * 40);
      if (which > 0.35) {
        await kill(app);
        died.apps++;
        app = (await start(trial))!;
      }
      await load.stop();
      if (which < 0.7) await redis.restart();
    }
    const ids = async (): Promise<string[]> => {
      const entries = await client.xrange('jobs', '-', '+');
      return entries.map(([, fields]) => JSON.parse(fields[fields.indexOf('data') + 1]!).id);
    };
    await findAll(t, acknowledged, async () => new Set(await ids()));
    died.report(t, timesOf(await ids()));
  } finally {
    await kill(app);
    client.disconnect();
    await redis.stop();
    rmSync(directory, { recursive: true, force: true });
  }
  return true;
}

function timesOf(ids: readonly string[]): number[] {
  const times = new Map<string, number>();
  for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1);
  return [...times.values()];
}

async function findAll(
  t: TestContext,
  loads: readonly Load[],
  find: () => Promise<Set<string>>,
): Promise<void> {
  const all = loads.flatMap(({ acknowledged }) => [...acknowledged]);
  assert.ok(all.length > 0, 'no request was answered at all');
  let missing: string[] = all;
  const isThere = async (): Promise<boolean> => {
    const found = await find();
    missing = all.filter((id) => !found.has(id));
    return missing.length === 0;
  };
  await until('the acknowledged jobs', isThere).catch(() => {});
  t.diagnostic(`${all.length} acknowledged, ${missing.length} lost`);
  assert.deepEqual(missing, []);
}
