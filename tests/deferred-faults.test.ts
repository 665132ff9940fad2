// What a reply below 400 promises, through HTTP, whatever goes wrong: the level of each of its jobs was reached.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import {
  createDefer,
  defer,
  defineJob,
  nodeFs,
  type JournalFs,
  type Level,
  type Sink,
  type When,
} from '@redline/defer';
import { temporaryFolder } from '../packages/defer/test/harness.ts';
import { apps, leftBy } from './deferred-apps.ts';

type JobLevel = Exclude<Level, 'outbox'>;

const levels: readonly JobLevel[] = ['memory', 'process', 'disk', 'sink'];
const whens: readonly When[] = ['always', 'success', 'aborted'];
const note = defineJob<string>('note');

function deferOne(level: string, when: string, data: string): void {
  defer(note, data, { level: level as JobLevel, when: when as When });
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: as the test says`), { code });
}

interface Fault {
  /** What goes wrong once `isOn()`. */
  fs?(isOn: () => boolean): Partial<JournalFs>;
  journal?: { maxBytes?: number; segmentBytes?: number };
  /** How many jobs are taken before it goes wrong. */
  before: number;
  /** What cannot be reached then; the others must be. */
  unreachable: readonly JobLevel[];
}

const cannotOpen = (code: string, before: number): Fault => ({
  fs: (isOn) => ({
    openSync(path, flags) {
      if (flags === 'wx' && path.endsWith('.seg') && isOn()) throw failure(code);
      return nodeFs.openSync(path, flags);
    },
  }),
  journal: { segmentBytes: 100 },
  before,
  unreachable: ['process', 'disk'],
});

const cannotWrite = (code: string): Fault => ({
  fs: (isOn) => ({
    writeSync(fd, bytes, offset, length, position) {
      if (isOn()) throw failure(code);
      return nodeFs.writeSync(fd, bytes, offset, length, position);
    },
  }),
  before: 1,
  unreachable: ['process', 'disk'],
});

const faults: Record<string, Fault> = {
  'none, but for the sink that is away': { before: 0, unreachable: [] },
  'the first segment cannot be opened, EROFS': cannotOpen('EROFS', 0),
  'the next segment cannot be opened, ENOSPC': cannotOpen('ENOSPC', 3),
  'the next segment cannot be opened, EMFILE': cannotOpen('EMFILE', 3),
  'a write fails, ENOSPC': cannotWrite('ENOSPC'),
  'a write fails, EIO': cannotWrite('EIO'),
  'a write fails, EROFS': cannotWrite('EROFS'),
  'a sync fails, EIO': {
    fs: (isOn) => ({
      fdatasync: (fd, done) =>
        isOn() ? void setImmediate(done, failure('EIO')) : nodeFs.fdatasync(fd, done),
    }),
    before: 1,
    unreachable: ['disk'],
  },
  'a sync hangs': {
    fs: (isOn) => ({
      fdatasync(fd, done) {
        if (!isOn()) nodeFs.fdatasync(fd, done);
      },
      fdatasyncSync(fd) {
        assert.ok(!isOn(), 'would hang as well, and the process with it');
        nodeFs.fdatasyncSync(fd);
      },
    }),
    before: 1,
    unreachable: ['disk'],
  },
  'the journal is full': {
    journal: { maxBytes: 400, segmentBytes: 200 },
    before: 5,
    unreachable: ['process', 'disk'],
  },
};

/** Its process could be killed now: what would the next one find? */
async function foundByTheNext(t: TestContext, directory: string): Promise<Set<string>> {
  const copy = leftBy(t, directory);
  const found = new Set<string>();
  const sink: Sink = {
    kind: 'next',
    async send(batch) {
      for (const { json } of batch) found.add(JSON.parse(json) as string);
    },
  };
  const next = createDefer({
    sinks: { test: sink },
    journal: { directory: copy },
    handleSignals: false,
    logger: false,
  });
  await next.ready();
  await next.close();
  return found;
}

for (const [framework, start] of Object.entries(apps)) {
  const name = `on ${framework}, a reply below 400 says that the level was reached`;
  // Side by side: each waits until what is not reached is given up.
  describe(name, { concurrency: true }, () => {
    for (const [what, fault] of Object.entries(faults)) {
      test(`where ${what}`, async (t) => {
        const directory = temporaryFolder(t);
        let isOn = false;
        const away: Sink = {
          kind: 'away',
          async send() {
            throw new Error('It is away.');
          },
        };
        const app = await start(
          {
            sinks: { test: away },
            journal: { directory, ...fault.journal, fs: { ...nodeFs, ...fault.fs?.(() => isOn) } },
            // Long enough for what is reached, on a machine that is busy with others.
            acknowledgeTimeoutMs: 3_000,
            drainMs: 0,
            handleSignals: false,
            logger: false,
          },
          deferOne,
        );
        t.after(() => app.stop());
        const claimed: string[] = [];
        const ask = async (level: JobLevel, when: When, data: string): Promise<number> => {
          const response = await fetch(`${app.url}/${level}/${when}/${data}`);
          const body = await response.text();
          assert.ok(!body.includes(directory), `the client gets a path: ${body}`);
          const isKept = level === 'process' || level === 'disk';
          if (response.ok && isKept && when !== 'aborted') claimed.push(data);
          return response.status;
        };
        for (let n = 0; n < fault.before; n++) {
          // The last may find the journal full already.
          await ask('process', 'always', `before-${n}`);
          await ask('disk', 'success', `before-too-${n}`);
        }
        if (fault.before > 0) assert.ok(claimed.length > 0);
        isOn = true;
        // Each with others beside it, as under load.
        const cases = levels.flatMap((level) => whens.map((when) => [level, when] as const));
        await Promise.all(
          [...cases, ...cases].map(async ([level, when], at) => {
            const status = await ask(level, when, `${level}-${when}-${at}`);
            const isReachable = level !== 'sink' && !fault.unreachable.includes(level);
            if (when === 'aborted' || isReachable) assert.equal(status, 200, `${level} ${when}`);
            else assert.equal(status, 503, `${level} ${when}`);
          }),
        );
        const found = await foundByTheNext(t, directory);
        assert.deepEqual(
          claimed.filter((data) => !found.has(data)),
          [],
          'claimed, and lost',
        );
      });
    }

    test('and a handler that waits for the level itself tells its client of no path', async (t) => {
      const directory = temporaryFolder(t);
      let broken: 'openSync' | 'writeSync' | 'fdatasync' | undefined;
      const folders = (): string => join(directory, readdirSync(directory)[0] ?? '');
      const fail = (call: string): Error =>
        Object.assign(new Error(`EIO: i/o error, ${call} '${folders()}'`), { code: 'EIO' });
      const app = await start(
        {
          sinks: { test: { kind: 'test', send: async () => {} } },
          journal: {
            directory,
            segmentBytes: 100,
            fs: {
              ...nodeFs,
              openSync(path, flags) {
                if (broken === 'openSync' && flags === 'wx') throw fail('open');
                return nodeFs.openSync(path, flags);
              },
              writeSync(...args) {
                if (broken === 'writeSync') throw fail('write');
                return nodeFs.writeSync(...args);
              },
              fdatasync(fd, done) {
                if (broken === 'fdatasync') setImmediate(done, fail('fdatasync'));
                else nodeFs.fdatasync(fd, done);
              },
            },
          },
          handleSignals: false,
          logger: false,
        },
        (level, when, data) =>
          defer(note, data, { level: level as JobLevel, when: when as When }).acknowledged(),
      );
      t.after(() => app.stop());
      const ask = (): Promise<Response> => fetch(`${app.url}/disk/always/job`);
      for (const call of ['openSync', 'writeSync', 'fdatasync'] as const) {
        assert.equal((await ask()).status, 200);
        broken = call;
        const response = await ask();
        const body = await response.text();
        broken = undefined;
        assert.ok(response.status >= 500, `${call}: ${response.status}`);
        assert.ok(!body.includes(directory), `${call}: the client gets a path: ${body}`);
      }
    });
  });
}
