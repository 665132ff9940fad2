import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, it, type TestContext } from 'node:test';
import { Controller, Get, Inject, Injectable } from '@nestjs/common';
import { AfterResponse, InjectDelivery, type RunDelivery } from '@redline/nest';
import { onBothFrameworks, startApp, until } from './harness.ts';

interface Run {
  readonly what: string;
  readonly note: string | undefined;
  readonly delivery: RunDelivery;
}

const runs: Run[] = [];
const levels = ['memory', 'process', 'disk', 'sink'] as const;

@Injectable()
class Work {
  hangs = false;
  failures = 0;

  @AfterResponse({ key: (what) => `key of ${what}` })
  async memory(what: string, note?: string, @InjectDelivery() delivery?: RunDelivery) {
    await this.#run(what, note, delivery!);
  }

  @AfterResponse({ level: 'process', key: (what) => `key of ${what}` })
  async process(what: string, note?: string, @InjectDelivery() delivery?: RunDelivery) {
    await this.#run(what, note, delivery!);
  }

  @AfterResponse({ level: 'disk', key: (what) => `key of ${what}` })
  async disk(what: string, note?: string, @InjectDelivery() delivery?: RunDelivery) {
    await this.#run(what, note, delivery!);
  }

  @AfterResponse({ level: 'sink', key: (what) => `key of ${what}` })
  async sink(what: string, note?: string, @InjectDelivery() delivery?: RunDelivery) {
    await this.#run(what, note, delivery!);
  }

  async #run(what: string, note: string | undefined, delivery: RunDelivery): Promise<void> {
    runs.push({ what, note, delivery });
    if (this.failures-- > 0) throw new Error('not yet');
    if (this.hangs) await new Promise(() => {});
  }
}

@Controller()
class Routes {
  readonly #work: Work;

  constructor(@Inject(Work) work: Work) {
    this.#work = work;
  }

  @Get('all')
  all(): object {
    for (const level of levels) void this.#work[level](level);
    return {};
  }

  @Get('kept')
  kept(): object {
    void this.#work.disk('kept', 'with a note');
    return {};
  }
}

const retry = { minMs: 1, maxMs: 1 };

onBothFrameworks('@InjectDelivery', (framework) => {
  beforeEach(() => void (runs.length = 0));

  it('gives each call an id, its attempt, its key and a signal, the same at every level', async (t) => {
    const { url } = await start(t);
    assert.equal((await fetch(`${url}/all`)).status, 200);
    await until('all calls', () => runs.length === levels.length);
    assert.equal(new Set(runs.map(({ delivery }) => delivery.id)).size, levels.length);
    for (const level of levels) {
      const { note, delivery } = runs.find(({ what }) => what === level)!;
      assert.equal(note, undefined);
      const { id, signal, deferredAtMs, ...rest } = delivery;
      assert.match(id, /^[0-9a-z-]+$/);
      assert.ok(Number.isInteger(deferredAtMs));
      assert.ok(signal instanceof AbortSignal && !signal.aborted);
      const expected = {
        job: `Work.${level}`,
        key: `key of ${level}`,
        attempt: 1,
        redelivered: false,
      };
      assert.deepEqual(rest, expected);
    }
  });

  it('keeps the id of a call that is tried again, and counts its attempts', async (t) => {
    const { url, app } = await start(t, { methods: { retry } });
    app.get(Work).failures = 2;
    assert.equal((await fetch(`${url}/kept`)).status, 200);
    await until('three attempts', () => runs.length === 3);
    const [first] = runs;
    assert.deepEqual(
      runs.map(({ note, delivery: { id, attempt } }) => ({ note, id, attempt })),
      [1, 2, 3].map((attempt) => ({ note: 'with a note', id: first!.delivery.id, attempt })),
    );
  });

  it('aborts the signal of a call whose time is over, at every level', async (t) => {
    const limits = {
      after: { timeoutMs: 300 },
      methods: { sendTimeoutMs: 300, retry: { minMs: 60_000 } },
    };
    const { url, app } = await start(t, limits);
    app.get(Work).hangs = true;
    void fetch(`${url}/all`).catch(() => {});
    await until('all calls', () => runs.length === levels.length);
    await until('their ends', () => runs.every(({ delivery }) => delivery.signal.aborted));
    for (const { delivery } of runs) {
      assert.equal((delivery.signal.reason as { code: string }).code, 'ERR_REDLINE_DEFER_TIMEOUT');
    }
  });

  it('aborts it when the app closes, at every level', async (t) => {
    const { url, app, stop } = await start(t);
    app.get(Work).hangs = true;
    void fetch(`${url}/all`).catch(() => {});
    await until('the call of level sink, which holds the response', () => runs.length > 0);
    await until('its release', () => runs.length === levels.length);
    await stop();
    assert.ok(runs.every(({ delivery }) => delivery.signal.aborted));
  });

  it('gives the next process, which runs a call of level memory, the id of the one before', async (t) => {
    const directory = temporaryFolder(t);
    const first = await start(t, { journal: { directory } });
    first.app.get(Work).hangs = true;
    first.app.get(Work).memory('cut off');
    await until('the call', () => runs.length === 1);
    first.defer.deferrer.closeSync();
    await first.stop();
    const second = await start(t, { journal: { directory } });
    await until('the call again', () => runs.length === 2);
    await second.stop();
    const [before, after] = runs.map(({ what, delivery: { id, key } }) => ({ what, id, key }));
    assert.deepEqual(after, before);
    assert.deepEqual(
      runs.map(({ delivery }) => delivery.redelivered),
      [false, true],
    );
  });

  type App = Awaited<ReturnType<typeof startApp>>;

  async function start(t: TestContext, options: Parameters<typeof startApp>[2] = {}): Promise<App> {
    const journal = { directory: temporaryFolder(t) };
    const all = { journal, acknowledgeTimeoutMs: 3_000, drainMs: 50, ...options };
    const app = await startApp(framework, [Routes], all, [Work]);
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (isStopped) return;
      isStopped = true;
      await app.stop();
    };
    t.after(stop);
    return { ...app, stop };
  }
});

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-nest-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
