// What was acknowledged through HTTP runs, now or in the next process: one job, one file or one option stops nothing.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test, type TestContext } from 'node:test';
import {
  createDefer,
  defer,
  defineJob,
  nodeFs,
  type DeferCallOptions,
  type DeferOptions,
  type JournalFs,
  type Level,
  type Sink,
} from '@redline/defer';
import { temporaryFolder } from '../packages/defer/test/harness.ts';
import { apps, leftBy, type App } from './deferred-apps.ts';

const note = defineJob<string>('note');

/** Keeps what it takes; takes nothing while it is away. */
class List implements Sink {
  readonly kind = 'list';
  readonly seen = new Set<string>();
  isAway = false;

  async send(batch: readonly { readonly json: string }[]): Promise<void> {
    if (this.isAway) throw new Error('It is away.');
    for (const { json } of batch) this.seen.add(JSON.parse(json) as string);
  }

  async hasAll(jobs: readonly string[]): Promise<void> {
    const deadline = Date.now() + 300_000;
    for (;;) {
      const missing = jobs.filter((each) => !this.seen.has(each));
      if (missing.length === 0) return;
      assert.ok(Date.now() < deadline, `acknowledged, and not run: ${missing.join(', ')}`);
      await sleep(5);
    }
  }
}

/** An app whose requests say how they defer, and which of them were answered below 400. */
class Asked {
  readonly kept: string[] = [];
  readonly #app: App;
  /** Of the request on its way. */
  options: DeferCallOptions = {};

  static async start(
    t: TestContext,
    start: (typeof apps)[string],
    options: DeferOptions,
  ): Promise<Asked> {
    let asked: Asked | undefined;
    const app = await start(
      { drainMs: 0, handleSignals: false, logger: false, ...options },
      (level, _, data) => defer(note, data, { level: level as Level, ...asked?.options }),
    );
    asked = new Asked(app);
    t.after(() => app.stop());
    await app.deferrer.ready();
    return asked;
  }

  private constructor(app: App) {
    this.#app = app;
  }

  async ask(level: Level, data: string, options: DeferCallOptions = {}): Promise<number> {
    this.options = options;
    const response = await fetch(`${this.#app.url}/${level}/always/${data}`);
    await response.text();
    if (response.status < 400) this.kept.push(data);
    return response.status;
  }
}

/** The process is killed, and this is the next one. */
async function nextOf(t: TestContext, directory: string): Promise<List> {
  const sink = new List();
  const deferrer = createDefer({
    sinks: { test: sink },
    journal: { directory: leftBy(t, directory), adoptEveryMs: 20 },
    handleSignals: false,
    logger: false,
  });
  t.after(() => deferrer.close({ drainMs: 0 }));
  return sink;
}

/** A file system that cannot read the file of the name given to `spoil`. */
function spoilableFs(): { fs: JournalFs; spoil(name: string | undefined): void } {
  let bad: string | undefined;
  const fs: JournalFs = {
    ...nodeFs,
    openSync(path, flags) {
      if (bad !== undefined && flags === 'r' && path.endsWith(bad)) {
        throw Object.assign(new Error('EIO: i/o error, open'), { code: 'EIO' });
      }
      return nodeFs.openSync(path, flags);
    },
  };
  return { fs, spoil: (name) => void (bad = name) };
}

const quick = { breaker: { minMs: 1, maxMs: 5 } };

for (const [framework, start] of Object.entries(apps)) {
  describe(`on ${framework}, what was acknowledged runs`, () => {
    test('though another call had options that JSON leaves out', async (t) => {
      const directory = temporaryFolder(t);
      const sink = new List();
      sink.isAway = true;
      const asked = await Asked.start(t, start, { sinks: { test: sink }, journal: { directory } });
      assert.equal(await asked.ask('process', 'before'), 200);
      const strange: unknown[] = [() => 1, { toJSON: () => undefined }, 'text', ['list'], null];
      for (const [at, options] of strange.entries()) {
        await asked.ask('process', `strange-${at}`, {
          options: options as Record<string, unknown>,
        });
      }
      assert.equal(await asked.ask('disk', 'behind', { options: { priority: 1 } }), 200);
      assert.deepEqual(asked.kept, ['before', 'behind']);
      await (await nextOf(t, directory)).hasAll(asked.kept);
    });

    for (const ordered of [false, true, 'key'] as const) {
      test(`though a full queue drops its oldest jobs, with ordered: ${ordered}`, async (t) => {
        const sink = new List();
        sink.isAway = true;
        const sinkOptions = {
          sink,
          maxPending: 5,
          overflow: 'drop-oldest' as const,
          ordered,
          ...quick,
        };
        const asked = await Asked.start(t, start, {
          sinks: { test: sinkOptions },
          journal: { directory: temporaryFolder(t) },
        });
        for (let n = 0; n < 5; n++) {
          assert.equal(await asked.ask(n % 2 === 0 ? 'process' : 'disk', `kept-${n}`), 200);
        }
        const kept = [...asked.kept];
        for (let n = 0; n < 20; n++) await asked.ask('memory', `memory-${n}`);
        sink.isAway = false;
        await sink.hasAll(kept);
      });
    }

    test('though the last checkpoint cannot be read', async (t) => {
      const directory = temporaryFolder(t);
      const sink = new List();
      sink.isAway = true;
      const asked = await Asked.start(t, start, { sinks: { test: sink }, journal: { directory } });
      for (let n = 0; n < 5; n++) assert.equal(await asked.ask('disk', `kept-${n}`), 200);
      const folder = readdirSync(directory).find((name) => name.includes('~'))!;
      mkdirSync(join(directory, folder, 'checkpoint'));
      await (await nextOf(t, directory)).hasAll(asked.kept);
    });

    test('though others that were delayed to the same moment cannot be read', async (t) => {
      const { fs, spoil } = spoilableFs();
      const sink = new List();
      const asked = await Asked.start(t, start, {
        sinks: { test: sink },
        journal: { directory: temporaryFolder(t), segmentBytes: 300, replayWindowMs: 0, fs },
      });
      const options = { runAt: Date.now() + 1_500 };
      spoil('00000001.seg');
      for (let n = 0; n < 10; n++) assert.equal(await asked.ask('disk', `at-${n}`, options), 200);
      await sink.hasAll(asked.kept.slice(5));
      spoil(undefined);
      await sink.hasAll(asked.kept);
    });

    test('though the app changes its working directory', async (t) => {
      const before = process.cwd();
      t.after(() => process.chdir(before));
      process.chdir(temporaryFolder(t));
      const sink = new List();
      sink.isAway = true;
      const asked = await Asked.start(t, start, {
        sinks: { test: { sink, maxPending: 3, ...quick } },
        journal: { directory: './journal', segmentBytes: 300 },
      });
      for (let n = 0; n < 20; n++) {
        if (n === 10) process.chdir(before);
        assert.equal(await asked.ask(n % 2 === 0 ? 'process' : 'disk', `kept-${n}`), 200);
      }
      sink.isAway = false;
      await sink.hasAll(asked.kept);
    });

    test('though the disk was full when it was to wait there for its time', async (t) => {
      let isFull = false;
      const fs: JournalFs = {
        ...nodeFs,
        writeSync(...args) {
          if (isFull) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
          return nodeFs.writeSync(...args);
        },
      };
      const sink = new List();
      const asked = await Asked.start(t, start, {
        sinks: { test: sink },
        journal: { directory: temporaryFolder(t), fs },
      });
      assert.equal(await asked.ask('process', 'before'), 200);
      isFull = true;
      for (let n = 0; n < 5; n++) {
        assert.equal(await asked.ask('memory', `delayed-${n}`, { delayMs: 500 }), 200);
      }
      assert.equal(await asked.ask('process', 'refused', { delayMs: 500 }), 503);
      isFull = false;
      await sink.hasAll(asked.kept);
    });
  });
}
