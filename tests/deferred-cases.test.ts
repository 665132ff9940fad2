// One job, one file or one outage stops nothing and loses nothing, through HTTP on each of the frameworks.
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createDefer,
  dead,
  defer,
  nodeFs,
  retry,
  type DeferOptions,
  type JournalFs,
  type Sink,
} from '@redline/defer';
import { bullmq } from '@redline/defer/sinks/bullmq';
import { handlers } from '@redline/defer/sinks/handlers';
import { redisStreams } from '@redline/defer/sinks/redis-streams';
import { startRedis } from '@redline/services';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { temporaryFolder } from '../packages/defer/test/harness.ts';
import { chosenApps, leftBy } from './deferred-apps.ts';
import { until } from '@redline/services/until';
import { bad, beginOn, good, HandClock, List, quick, some, sorted } from './deferred-bench.ts';

for (const [framework, start] of chosenApps) {
  const begin = beginOn(start);

  describe(`on ${framework}`, () => {
    test('an outage longer than the replay window loses nothing of a server that forgets', async (t) => {
      const sink = new List();
      let laterMs = 0;
      let looks = 0;
      const clock: DeferOptions['clock'] = {
        now: () => performance.now() + laterMs,
        wall: () => Date.now() + laterMs,
        after(ms, callback) {
          const timer = setTimeout(() => {
            callback();
            if (ms === 500) looks++;
          }, ms);
          return { cancel: () => clearTimeout(timer) };
        },
      };
      const { ask } = await begin(t, {
        sinks: { test: { sink, ...quick } },
        journal: { directory: temporaryFolder(t) },
        clock,
      });
      sink.host!.generation('one');
      assert.equal((await ask('process', 'good', some)).length, some.length);
      await until('the jobs', () => sink.got.length === some.length);
      sink.isAway = true;
      sink.got.length = 0;
      laterMs = 3_600_000;
      // What is no longer kept is let go of every half second.
      const before = looks;
      await until('two looks at what is kept', () => looks > before + 1);
      sink.isAway = false;
      sink.host!.generation('two');
      await until('what it has forgotten', () => sink.got.length >= some.length);
      assert.deepEqual(sorted([...new Set(sink.got)]), some);
    });

    test("what 'degrade' acknowledges is done, and what there is no room for is refused", async (t) => {
      const sink = new List();
      let isFull = false;
      const fs: JournalFs = {
        ...nodeFs,
        writeSync(...call) {
          if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
          return nodeFs.writeSync(...call);
        },
      };
      const { ask, queue } = await begin(t, {
        sinks: { test: { sink, ...quick, maxPending: 10 } },
        journal: { directory: temporaryFolder(t), fs, onFailure: 'degrade' },
      });
      sink.isAway = true;
      isFull = true;
      const claimed = await ask('process', 'good', some);
      assert.ok(claimed.length >= 1 && claimed.length <= 10, `${claimed.length} were claimed`);
      isFull = false;
      sink.isAway = false;
      await until('the end of the backlog', () => queue.depth === 0);
      assert.deepEqual(sorted(sink.got), sorted(claimed));
    });

    test('a file of the journal that cannot be read back is delivered around', async (t) => {
      const directory = temporaryFolder(t);
      const sink = new List();
      let unreadable: string | undefined;
      const fs: JournalFs = {
        ...nodeFs,
        openSync(path, flags) {
          if (path === unreadable && flags === 'r') throw new Error('EIO: as the test says');
          return nodeFs.openSync(path, flags);
        },
      };
      const { ask } = await begin(t, {
        sinks: { test: { sink, ...quick, maxPending: 5 } },
        journal: { directory, segmentBytes: 500, fs },
      });
      sink.isAway = true;
      // One after the other: a turn of many requests would be one write, and one segment.
      for (const each of some) await ask('process', 'good', [each]);
      const folder = join(
        directory,
        readdirSync(directory).find((name) => name.includes('~'))!,
      );
      const segments = readdirSync(folder).filter((name) => name.endsWith('.seg'));
      assert.ok(segments.length > 5);
      unreadable = join(folder, segments[2]!);
      sink.isAway = false;
      const more = some.map((each) => String(1_000 + Number(each)));
      await ask('process', 'good', more);
      await until('all else', () => more.every((each) => sink.got.includes(each)));
      await until('what is older, too', () => sink.got.length > more.length + some.length / 2);
      assert.ok(sink.got.length < more.length + some.length);
      unreadable = undefined;
      await until('the rest, once it can be read', () => {
        return new Set(sink.got).size === more.length + some.length;
      });
    });

    test('a removed file of the journal is reported at the next start, and all else is delivered', async (t) => {
      const directory = temporaryFolder(t);
      const sink = new List();
      const { ask } = await begin(t, {
        sinks: { test: { sink, ...quick } },
        journal: { directory, segmentBytes: 500 },
      });
      sink.isAway = true;
      for (const each of some) await ask('process', 'good', [each]);
      const left = leftBy(t, directory);
      const folder = join(
        left,
        readdirSync(left).find((name) => name.includes('~'))!,
      );
      const segments = readdirSync(folder).filter((name) => name.endsWith('.seg'));
      rmSync(join(folder, segments[2]!));
      const next = new List();
      const logged: string[] = [];
      const log = (line: string): void => void logged.push(line);
      const deferrer = createDefer({
        sinks: { test: { sink: next, ...quick } },
        journal: { directory: left },
        handleSignals: false,
        logger: { warn: log, log },
      });
      t.after(() => deferrer.close());
      await deferrer.ready();
      await until('the jobs', () => deferrer.queues.get('test')!.depth === 0);
      const lost = some.filter((each) => !next.got.includes(each));
      assert.ok(lost.length > 0 && lost.length < some.length / 2, `${lost.length} are not there`);
      assert.ok(
        logged.some((line) => new RegExp(`\\b${lost.length}\\b`).test(line)),
        logged.join('\n'),
      );
    });

    test('with `ordered`, what a killed process left goes before what is new', async (t) => {
      const directory = temporaryFolder(t);
      const sink = new List();
      const first = await begin(t, {
        sinks: { test: { sink, ...quick, ordered: true } },
        journal: { directory },
      });
      sink.isAway = true;
      for (const each of some) await first.ask('process', 'good', [each]);
      const next = new List();
      const second = await begin(t, {
        sinks: { test: { sink: next, ...quick, ordered: true } },
        journal: { directory: leftBy(t, directory) },
      });
      const more = some.map((each) => String(1_000 + Number(each)));
      for (const each of more) await second.ask('process', 'good', [each]);
      await until('all of them', () => next.got.length >= some.length + more.length);
      assert.deepEqual(next.got, [...some, ...more]);
    });

    test('a kind of job that fails starves no other, and dies after its attempts', async (t) => {
      const sink = new List();
      sink.answer = ({ job }) => (job === 'bad' ? retry(new Error('no')) : undefined);
      const { ask, deferrer } = await begin(t, {
        sinks: {
          test: { sink, ...quick, maxPending: 20, retry: { attempts: 3, minMs: 1, maxMs: 2 } },
        },
        journal: { directory: temporaryFolder(t) },
      });
      await ask('process', 'bad', some);
      const claimed = await ask('process', 'good', some);
      assert.equal(claimed.length, some.length);
      await until('the good ones', () => sink.got.length === some.length);
      await until('the end of the others', () => deferrer.deadLetters.size === some.length);
    });

    test('a job that makes every send fail it is in is found among others, and dies after its attempts', async (t) => {
      const sink = new List();
      // A server that answers 500 to it, say: the sink calls that an outage.
      sink.answer = ({ job }) => {
        if (job === 'bad') throw new Error('500');
        return undefined;
      };
      const retryOptions = { attempts: 3, minMs: 1, maxMs: 2 };
      const { ask, deferrer, queue } = await begin(t, {
        sinks: { test: { sink, ...quick, batch: { waitMs: 20 }, retry: retryOptions } },
        journal: { directory: temporaryFolder(t) },
      });
      const claimed = await Promise.all([
        ask('process', 'bad', ['7', '8']),
        ask('process', 'good', some),
      ]);
      assert.deepEqual(
        claimed.map(({ length }) => length),
        [2, some.length],
      );
      await until('the others', () => new Set(sink.got).size === some.length);
      let more = 1_000;
      await until('the letters', async () => {
        await ask('process', 'good', [String(more++)]);
        return deferrer.deadLetters.size === 2;
      });
      await until('the end of the backlog', () => queue.depth === 0);
      assert.equal(new Set(sink.got).size, some.length + more - 1_000);
    });

    test('jobs that die are dead letters, and go again when they are requeued', async (t) => {
      const sink = new List();
      sink.answer = () => dead(new Error('no such mailbox'));
      const { ask, deferrer } = await begin(t, {
        sinks: { test: { sink, ...quick } },
        journal: { directory: temporaryFolder(t) },
      });
      await ask('disk', 'good', some);
      await until('the letters', () => deferrer.deadLetters.size === some.length);
      sink.answer = () => undefined;
      assert.equal(await deferrer.deadLetters.requeueAll(), some.length);
      await until('the jobs', () => sink.got.length === some.length);
      assert.deepEqual(sorted(sink.got), some);
      assert.equal(deferrer.deadLetters.size, 0);
    });

    test('closures that hang make no request fail, and hold up no other closure', async (t) => {
      let ran = 0;
      const { ask } = await begin(
        t,
        { sinks: { test: new List() }, after: { timeoutMs: 50, maxPending: 1_000 } },
        (_, what) => {
          defer.after(() => (what === 'bad' ? new Promise(() => {}) : ran++));
        },
      );
      const many = Array.from({ length: 150 }, (_, n) => String(n));
      assert.equal((await ask('memory', 'bad', many)).length, many.length);
      assert.equal((await ask('memory', 'good', some)).length, some.length);
      await until('the others', () => ran === some.length);
    });

    test('each job has its own time, however many are before it in its batch', async (t) => {
      const runs = new Map<string, number>();
      const sink = handlers(
        {
          good: async (data: string) => {
            runs.set(data, (runs.get(data) ?? 0) + 1);
            await sleep(100);
          },
          bad: () => {},
        },
        { concurrency: 4 },
      );
      const { ask, queue } = await begin(t, {
        sinks: { test: { sink, batch: { waitMs: 20 }, sendTimeoutMs: 1_000 } },
        journal: { directory: temporaryFolder(t) },
      });
      await ask('process', 'good', some);
      await until('all of them', () => queue.depth === 0 && runs.size === some.length);
      assert.deepEqual([...new Set(runs.values())], [1]);
    });

    test('of the same requests, as many jobs of level memory go in a batch as of level process or disk', async (t) => {
      const batches: Record<string, number[]> = {};
      for (const level of ['memory', 'process', 'disk']) {
        const clock = new HandClock();
        const lengths: number[] = (batches[level] = []);
        const sink: Sink = {
          kind: 'lengths',
          async send({ length }) {
            lengths.push(length);
          },
        };
        const { ask, queue } = await begin(t, {
          sinks: { test: { sink, batch: { waitMs: 5 } } },
          journal: { directory: temporaryFolder(t) },
          clock,
        });
        // Two waves within the time of a batch, and one behind it.
        for (const [wave, waiting, passMs] of [
          [some, 60, 2],
          [some.slice(0, 20), 80, 3],
          [some.slice(0, 30), 30, 5],
        ] as const) {
          assert.equal((await ask(level, 'good', wave)).length, wave.length);
          await until('the end of their requests', () => queue.loaded === waiting);
          clock.pass(passMs);
          await until('the batch', () => passMs === 2 || queue.loaded === 0);
        }
      }
      assert.deepEqual(batches, { memory: [80, 30], process: [80, 30], disk: [80, 30] });
    });

    test("'block' keeps no request that it has refused, and takes new ones once there is room", async (t) => {
      const sink = new List();
      const { ask, queue } = await begin(t, {
        sinks: { test: { sink, ...quick, maxPending: 5, overflow: 'block' } },
        journal: { directory: temporaryFolder(t), maxBytes: 500, segmentBytes: 100 },
        acknowledgeTimeoutMs: 50,
      });
      sink.isAway = true;
      const claimed: string[] = [];
      let refused = 0;
      for (let round = 0; round < 3; round++) {
        const data = some.map((each) => String(100 * round + Number(each)));
        const answered = await ask('process', 'good', data);
        claimed.push(...answered);
        refused += data.length - answered.length;
      }
      assert.ok(refused > 2 * some.length, `${refused} were refused`);
      // Those that wait for room are no more than maxPending, and none of them waits behind its 503.
      assert.ok(
        queue.depth <= claimed.length + 5,
        `${queue.depth} wait, ${claimed.length} claimed`,
      );
      sink.isAway = false;
      await until('the end of the backlog', () => queue.depth === 0);
      assert.deepEqual(
        claimed.filter((each) => !sink.got.includes(each)),
        [],
      );
      // On a busy machine the limit passes for one of them as well.
      let tries = 1_000;
      await until(
        'a new one to be taken',
        async () => (await ask('process', 'good', [`${tries++}`])).length > 0,
      );
    });

    test('two kinds of job with one key, and a key with half an emoji, are all in the queue', async (t) => {
      const redis = await startRedis();
      if (redis === undefined) return t.skip('No redis-server or valkey-server on PATH.');
      t.after(() => redis.stop());
      const { hostname: host, port } = new URL(redis.url);
      const cases = new Queue('cases', { connection: { host, port: Number(port) } });
      t.after(() => cases.close());
      const { ask, queue } = await begin(
        t,
        { sinks: { test: { sink: bullmq(cases) } }, journal: { directory: temporaryFolder(t) } },
        (_, name, data) => {
          const key = data === '0' ? '😀'.slice(0, 1) : 'order-4711';
          defer(name === 'good' ? good : bad, data, { level: 'disk', key });
        },
      );
      for (const name of ['good', 'bad']) {
        assert.deepEqual((await ask('disk', name, ['0', '1'])).toSorted(), ['0', '1']);
      }
      await until('the jobs', () => queue.depth === 0);
      const jobs = await cases.getJobs();
      assert.deepEqual(jobs.map(({ name, data }) => `${name} ${data as string}`).toSorted(), [
        'bad 0',
        'bad 1',
        'good 0',
        'good 1',
      ]);
    });

    test('a selector that throws for one job makes a dead letter of that job alone', async (t) => {
      const redis = await startRedis();
      if (redis === undefined) return t.skip('No redis-server or valkey-server on PATH.');
      t.after(() => redis.stop());
      const client = new Redis(redis.url);
      t.after(() => client.disconnect());
      const sink = redisStreams({
        client,
        stream: ({ json }) => {
          if (json === '"7"') throw new Error('no such shop');
          return 'jobs';
        },
      });
      const { ask, deferrer, queue } = await begin(t, {
        sinks: { test: sink },
        journal: { directory: temporaryFolder(t) },
      });
      assert.equal((await ask('process', 'good', some)).length, some.length);
      await until('all of them', () => queue.depth === 0 && deferrer.deadLetters.size === 1);
      assert.equal(await client.xlen('jobs'), some.length - 1);
      assert.equal((await deferrer.deadLetters.list())[0]!.record.json, '"7"');
    });
  });
}
