// What outlives a process, a thread, a connection, or the data of a server, through HTTP on each of the frameworks.
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createDefer, defer, nodeFs, retry, type DeferOptions } from '@redline/defer';
import { postgresOutbox } from '@redline/defer/sinks/postgres-outbox';
import { redisStreams } from '@redline/defer/sinks/redis-streams';
import { startPostgres, startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import type { AloneMessage, AloneSettings } from './deferred-app-alone.ts';
import { temporaryFolder } from '../packages/defer/test/harness.ts';
import { apps, chosenApps, leftBy } from './deferred-apps.ts';
import { until } from '@redline/services/until';
import { askAt, beginOn, good, List, quick, some, sorted } from './deferred-bench.ts';

const alone = join(import.meta.dirname, 'deferred-app-alone.ts');
const inspect = join(import.meta.dirname, '../packages/defer/bin/redline-defer.mjs');

/** Nobody has it. */
const otherUser = 54_321;
const { server: postgres, missing } = await startPostgres();
after(() => postgres?.stop());

for (const [framework, start] of chosenApps) {
  const begin = beginOn(start);

  describe(`on ${framework}`, () => {
    test(
      'a row of the outbox is kept as long as the server of its sink can come back without the job',
      { skip: missing ?? false },
      async (t) => {
        const pool = new Pool({ connectionString: postgres!.url });
        const sink = new List();
        const { ask } = await begin(
          t,
          {
            sinks: { test: { sink, ...quick } },
            outbox: postgresOutbox({ pool, table: randomUUID(), pollMs: 20 }),
            journal: { directory: temporaryFolder(t) },
          },
          async (_, end, data) => {
            const transaction = await pool.connect();
            await transaction.query('begin');
            await defer(good, data, { level: 'outbox', transaction }).acknowledged();
            await transaction.query(end);
            transaction.release();
          },
        );
        t.after(() => pool.end());
        sink.host!.generation('one');
        assert.equal((await ask('outbox', 'commit', some)).length, some.length);
        await ask('outbox', 'rollback', ['1000']);
        await until('the jobs', () => sink.got.length === some.length);
        // It has forgotten them all.
        sink.got.length = 0;
        sink.host!.generation('two');
        await until('the jobs again', () => sink.got.length >= some.length);
        assert.deepEqual(sorted(sink.got), some);
      },
    );

    test('jobs of an app in a worker thread that is terminated are done while the process lives', async (t) => {
      const directory = temporaryFolder(t);
      const sink = new List();
      await begin(t, {
        sinks: { test: { sink, ...quick } },
        journal: { directory: join(directory, 'journal'), adoptEveryMs: 20 },
      });
      const settings: AloneSettings = { framework, directory, isAway: true };
      const worker = new Worker(alone, { workerData: settings });
      const [{ url }] = (await once(worker, 'message')) as [{ url: string }];
      const claimed = await askAt(url, 'disk', 'good', some);
      await worker.terminate();
      assert.deepEqual(sorted(claimed), some);
      await until('its jobs', () => sink.got.length >= some.length);
      assert.deepEqual(sorted(sink.got), some);
    });

    test('a job that ends its process three times is a dead letter, and all others are done', async (t) => {
      const directory = temporaryFolder(t);
      const done = (): string[] => linesOf(join(directory, 'done'));
      const first = await startAlone(t, { framework, directory });
      // The kill may come before the last replies.
      await askAt(first.url, 'process', 'good', some);
      await askAt(first.url, 'process', 'poison', ['poison']).catch(() => {});
      const more = await Promise.all(
        some.map((each) => askAt(first.url, 'process', 'good', [`1${each}`]).catch(() => [])),
      );
      await first.ended;
      let kills = 1;
      let last: Alone | undefined;
      for (; last === undefined && kills < 6;) {
        const next = await startAlone(t, { framework, directory }).catch(() => undefined);
        const isOver = await Promise.race([next?.ended, next?.idle()]);
        if (isOver === undefined) kills++;
        else last = next;
      }
      assert.equal(kills, 3);
      await until('the letter', async () => (await last!.idle()).letters === 1);
      assert.equal(done().filter((each) => each === 'poison').length, 3);
      assert.deepEqual(
        [...some, ...more.flat()].filter((each) => !done().includes(each)),
        [],
      );
    });

    test(
      'what root requeues with inspect is done by the running app of another user',
      { skip: whyNoOtherUser() },
      async (t) => {
        const directory = temporaryFolder(t);
        chownSync(directory, otherUser, otherUser);
        const app = await startAlone(
          t,
          { framework, directory },
          { uid: otherUser, gid: otherUser },
        );
        assert.equal((await askAt(app.url, 'process', 'broken', some)).length, some.length);
        await until('the letters', async () => (await app.idle()).letters === some.length);
        writeFileSync(join(directory, 'mended'), '');
        const journal = join(directory, 'journal');
        const command = [inspect, 'inspect', journal, '--requeue'];
        const { stdout } = spawnSync(process.execPath, command, { encoding: 'utf8' });
        assert.match(stdout, /60 jobs requeued/);
        const done = (): string[] => linesOf(join(directory, 'done'));
        await until('the jobs', () => done().length >= some.length);
        assert.deepEqual(sorted(done()), some);
      },
    );

    test('a kill between a checkpoint and the removal of what it leaves out has nothing done twice', async (t) => {
      const directory = temporaryFolder(t);
      let hasCheckpoint = false;
      const sink = new List();
      // It waits in the oldest file, behind which others are finished.
      let writes = 0;
      let writesBeforeLast = 0;
      sink.answer = ({ json }) => {
        writesBeforeLast = writes;
        return json === '"stays"' ? retry(new Error('later'), 1_000_000) : undefined;
      };
      const { ask } = await begin(t, {
        sinks: { test: { sink, ...quick } },
        journal: {
          directory,
          segmentBytes: 500,
          fs: {
            ...nodeFs,
            writeSync(...call) {
              writes++;
              return nodeFs.writeSync(...call);
            },
            renameSync(from, to) {
              nodeFs.renameSync(from, to);
              hasCheckpoint ||= to.endsWith('checkpoint');
            },
            // As if it was killed: nothing is removed behind a checkpoint.
            unlinkSync(path) {
              if (!hasCheckpoint || !path.endsWith('.seg')) nodeFs.unlinkSync(path);
            },
          },
        },
      });
      await ask('process', 'good', ['stays']);
      for (const each of some) assert.deepEqual(await ask('process', 'good', [each]), [each]);
      await until('a checkpoint', () => hasCheckpoint);
      assert.deepEqual(sorted(sink.got), some);
      await until('the mark of the last one', () => writes > writesBeforeLast);
      const next = new List();
      const second = await begin(t, {
        sinks: { test: { sink: next, ...quick } },
        journal: { directory: leftBy(t, directory) },
      });
      await until('the one', () => next.got.length > 0);
      assert.deepEqual(await second.ask('process', 'good', ['new']), ['new']);
      await until('a new one', () => next.got.includes('new'));
      assert.deepEqual(next.got, ['stays', 'new']);
    });

    test('an app that stood still while another process took its journal over claims nothing in it', async (t) => {
      const directory = temporaryFolder(t);
      let laterMs = 0;
      const clock: DeferOptions['clock'] = {
        now: () => performance.now() + laterMs,
        wall: () => Date.now() + laterMs,
        after(ms, callback) {
          const timer = setTimeout(callback, ms);
          return { cancel: () => clearTimeout(timer) };
        },
      };
      const sink = new List();
      const { ask } = await begin(t, {
        sinks: { test: { sink, ...quick, maxPending: 5 } },
        journal: { directory },
        clock,
      });
      sink.isAway = true;
      await ask('process', 'good', some);
      const folder = readdirSync(directory).find((name) => name.includes('~'))!;
      // A process of another container, which has read it by now.
      laterMs = 20_000;
      renameSync(join(directory, folder), join(temporaryFolder(t), 'taken'));
      const more = some.map((each) => String(1_000 + Number(each)));
      const claimed = [
        ...(await ask('process', 'good', more.slice(0, 30))),
        ...(await ask('disk', 'good', more.slice(30))),
      ];
      // The next sign of life is due within five seconds.
      await until('the new folder', () => readdirSync(directory).includes(folder));
      for (const level of ['process', 'disk']) {
        const data = [`${level}-later`];
        assert.deepEqual(await ask(level, 'good', data), data);
        claimed.push(...data);
      }
      const next = new List();
      const left = leftBy(t, directory);
      const deferrer = createDefer({
        sinks: { test: { sink: next, ...quick } },
        journal: { directory: left },
        handleSignals: false,
        logger: false,
      });
      t.after(() => deferrer.close());
      await deferrer.ready();
      await until('the jobs', () => deferrer.queues.get('test')!.depth === 0);
      const lost = claimed.filter((each) => !next.got.includes(each));
      assert.deepEqual(lost, []);
    });
  });
}

test('a connection to Redis that died and does not say so is replaced: until then the level sink is refused, and nothing is lost', async (t) => {
  const redis = await startRedis();
  if (redis === undefined) return t.skip('No redis-server or valkey-server on PATH.');
  t.after(() => redis.stop());
  const look = new Redis(redis.url);
  t.after(() => look.disconnect());
  // At the same time: it takes 10 to 15 seconds until a connection counts as dead.
  await Promise.all(
    Object.entries(apps).map(async ([framework, start]) => {
      const proxy = await startProxy(t, Number(new URL(redis.url).port));
      const client = new Redis(proxy.port, { lazyConnect: true });
      const { ask, queue } = await beginOn(start)(t, {
        sinks: {
          test: {
            sink: redisStreams({ client, stream: framework }),
            ...quick,
            sendTimeoutMs: 1_500,
          },
        },
        journal: { directory: temporaryFolder(t) },
        acknowledgeTimeoutMs: 3_000,
      });
      assert.deepEqual(await ask('sink', 'good', ['before']), ['before'], framework);
      proxy.silence();
      assert.deepEqual(await ask('sink', 'good', ['unknown']), [], framework);
      assert.equal((await ask('process', 'good', some)).length, some.length, framework);
      let tries = 0;
      await until(
        'the level sink',
        async () => (await ask('sink', 'good', [`x${tries++}`])).length > 0,
      );
      await until('the end of the backlog', () => queue.depth === 0);
      const entries = await look.xrange(framework, '-', '+');
      const there = new Set<string>(
        entries.map(([, fields]) => JSON.parse(fields[fields.indexOf('data') + 1]!)),
      );
      const missed = ['before', ...some].filter((each) => !there.has(each));
      assert.deepEqual(missed, [], framework);
    }),
  );
});

interface Alone {
  readonly url: string;
  readonly child: ChildProcess;
  readonly ended: Promise<undefined>;
  /** Resolves when nothing waits. */
  idle(): Promise<{ depth: number; letters: number }>;
}

async function startAlone(
  t: TestContext,
  settings: AloneSettings,
  user: { uid?: number; gid?: number } = {},
): Promise<Alone> {
  const child = spawn(process.execPath, [alone, JSON.stringify(settings)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...user,
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(() => undefined);
  const first = (await Promise.race([once(child, 'message'), ended])) as
    | [{ url: string }]
    | undefined;
  if (first === undefined) throw new Error('It ended before it listened.');
  const [{ url }] = first;
  return {
    url,
    child,
    ended,
    async idle() {
      for (;;) {
        const answer = once(child, 'message') as Promise<[AloneMessage]>;
        child.send('how many?', () => {});
        const [state] = await answer;
        if ('depth' in state && state.depth === 0) return state;
        await sleep(10);
      }
    },
  };
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Passes on what comes, until it is silenced: then what goes through the connections there are is lost. */
async function startProxy(
  t: TestContext,
  port: number,
): Promise<{ readonly port: number; silence(): void }> {
  const connections: { isSilent: boolean; ends: Socket[] }[] = [];
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const connection = { isSilent: false, ends: [near, far] };
    connections.push(connection);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk) => connection.isSilent || to.write(chunk));
      from.on('error', () => {});
      from.on('close', () => connection.isSilent || to.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    for (const { ends } of connections) for (const end of ends) end.destroy();
    proxy.close();
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    silence() {
      for (const connection of connections) connection.isSilent = true;
    },
  };
}

/** Why no program of this clone can run as `otherUser`; false if one can. */
function whyNoOtherUser(): string | false {
  if (process.getuid?.() !== 0) return 'only root can be another user';
  const { error } = spawnSync(process.execPath, ['--version'], { uid: otherUser, gid: otherUser });
  return error !== undefined && `another user cannot run Node from this folder: ${error.message}`;
}
