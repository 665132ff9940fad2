// Jobs that fail, and jobs that end the process: the others are done all the same.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createDefer } from '../../src/create-defer.ts';
import { defineJob } from '../../src/job/job.ts';
import type { JournalOptions } from '../../src/options.ts';
import { retry } from '../../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestClock, TestSink, turns } from '../harness.ts';

const good = defineJob<number>('good');
const bad = defineJob<number>('bad');

function start(journal: JournalOptions | undefined, maxPending: number) {
  const sink = new TestSink();
  const clock = new TestClock();
  const deferrer = createDefer<string>({
    sinks: { test: { sink, maxPending, batch: { waitMs: 0 } } },
    ...(journal && { journal }),
    clock,
    random: () => 1,
    handleSignals: false,
    logger: false,
  });
  return { sink, clock, deferrer, queue: deferrer.queues.get('test')! };
}

for (const level of ['memory', 'process'] as const) {
  test(`a kind of job that fails starves no other of its sink, at level ${level}`, async (t) => {
    const { sink, clock, deferrer, queue } = start({ directory: temporaryFolder(t) }, 20);
    t.after(() => deferrer.closeSync());
    await deferrer.ready();
    let isBroken = true;
    const done = new Set<string>();
    sink.answer = (batch) =>
      batch.map(({ job, json }) => {
        if (isBroken && job === 'bad') return retry(new Error('its server is away'));
        done.add(job + json);
        return undefined;
      });
    for (let n = 0; n < 100; n++) {
      for (let each = 0; each < 5; each++) deferrer.defer(bad, n * 5 + each, { level });
      deferrer.defer(good, n, { level });
      await clock.pass(1);
    }
    const goods = (): number => [...done].filter((each) => each.startsWith('good')).length;
    await until('the good ones', async () => {
      await clock.pass(1);
      return goods() === 100;
    });
    assert.ok(queue.loaded <= 20);
    assert.equal(queue.depth, 500);
    isBroken = false;
    await until('the others', async () => {
      await clock.pass(1_000);
      return queue.depth === 0;
    });
    assert.equal(done.size, 600);
    assert.equal(deferrer.deadLetters.size, 0);
  });
}

test('without a journal, those for which there is no room to wait are dead letters', async (t) => {
  const { sink, clock, deferrer } = start(undefined, 20);
  t.after(() => deferrer.closeSync());
  sink.answer = (batch) =>
    batch.map(({ job }) => (job === 'bad' ? retry(new Error('no')) : undefined));
  for (let n = 0; n < 50; n++) {
    deferrer.defer(bad, n);
    deferrer.defer(good, n);
    await clock.pass(1);
  }
  assert.equal(deferrer.queues.get('test')!.stats.sent, 50);
  assert.ok(deferrer.deadLetters.size >= 30);
});

test('a job that makes every send fail it is in is found alone, and is a dead letter in the end; all others arrive once', async (t) => {
  const { sink, clock, deferrer, queue } = start({ directory: temporaryFolder(t) }, 10_000);
  t.after(() => deferrer.closeSync());
  await deferrer.ready();
  const done: number[] = [];
  // A server that answers 500 to some data, say.
  sink.answer = (batch) => {
    if (batch.some(({ job }) => job === 'bad')) throw new Error('500');
    done.push(...batch.map(({ json }) => Number(json)));
  };
  for (let n = 0; n < 700; n++) {
    // Two next to each other, and one elsewhere.
    const isBad = n === 0 || n === 1 || n === 400;
    deferrer.defer(isBad ? bad : good, n, { level: 'process' });
  }
  await until('the others', async () => {
    await clock.pass(1_000);
    return done.length === 697;
  });
  // Alone they could as well have a sink that is away: others show that it is not.
  assert.equal(queue.stats.dead, 0);
  let more = 0;
  await until('the letters', async () => {
    deferrer.defer(good, 1_000 + more++, { level: 'process' });
    await clock.pass(10_000);
    return deferrer.deadLetters.size === 3;
  });
  await clock.pass(10_000);
  assert.equal(done.length, 697 + more);
  assert.equal(queue.depth, 0);
});

test('while a sink is away, however long and whatever it is asked with, no attempt is counted', async (t) => {
  const { sink, clock, deferrer, queue } = start({ directory: temporaryFolder(t) }, 10_000);
  t.after(() => deferrer.closeSync());
  await deferrer.ready();
  const done = new Set<string>();
  let isAway = false;
  sink.answer = (batch) => {
    if (isAway) throw new Error('away');
    for (const { json } of batch) done.add(json);
  };
  for (let outage = 0; outage < 5; outage++) {
    isAway = true;
    for (let n = 0; n < 300; n++) deferrer.defer(good, outage * 300 + n, { level: 'process' });
    await clock.pass(600_000);
    isAway = false;
    await clock.pass(10_000);
  }
  assert.equal(done.size, 1_500);
  assert.deepEqual([queue.stats.retried, queue.stats.dead, queue.depth], [0, 0, 0]);
});

test('the attempts of a job are counted across lives', async (t) => {
  const directory = temporaryFolder(t);
  const first = start({ directory }, 10);
  first.sink.answer = (batch) => batch.map(() => retry(new Error('no')));
  first.deferrer.defer(bad, 1, { level: 'process' });
  await first.clock.pass(2_000);
  const { attempt } = first.sink.batches.at(-1)![0]!;
  assert.ok(attempt > 2);
  first.deferrer.closeSync();
  const second = start({ directory }, 10);
  t.after(() => second.deferrer.closeSync());
  await second.deferrer.ready();
  await until('the job', async () => {
    await turns();
    await second.clock.pass(1);
    return second.sink.batches.length > 0;
  });
  assert.equal(second.sink.batches[0]![0]!.attempt, attempt);
});

const ends = {
  'a throw behind its promise': `
      setImmediate(() => { throw new Error('a bug behind the promise'); });
      return new Promise(() => {});`,
  'kill -9': `process.kill(process.pid, 'SIGKILL'); return new Promise(() => {});`,
};

for (const [how, end] of Object.entries(ends)) {
  for (const together of [false, true]) {
    const what = together ? 'a job of a batched handler' : 'a job';
    test(`${what} that ends its process three times by ${how} is a dead letter, and all others are done`, async (t) => {
      await endThreeTimes(t, end, together);
    });
  }
}

async function endThreeTimes(t: TestContext, end: string, together: boolean): Promise<void> {
  const directory = temporaryFolder(t);
  const log = join(directory, 'done');
  const source = (file: string): string =>
    JSON.stringify(join(import.meta.dirname, '../../src', file));
  const program = `
    const [{ createDefer, defer, defineJob }, { batched, handlers }, { fastifyDefer }, { fastify }, { appendFileSync }] = await Promise.all([
      import(${source('index.ts')}),
      import(${source('sinks/handlers.ts')}),
      import(${source('adapters/fastify.ts')}),
      import('fastify'),
      import('node:fs'),
    ]);
    const write = (line) => appendFileSync(${JSON.stringify(log)}, line + '\\n');
    const poison = () => {
      write('poison');
      ${end}
    };
    const sink = handlers({ poison: ${together ? 'batched(poison)' : 'poison'}, good: (n) => write('good ' + n) });
    const deferrer = createDefer({ sinks: { sink }, level: 'process', journal: { directory: ${JSON.stringify(join(directory, 'journal'))} }, logger: false });
    const app = fastify();
    await app.register(fastifyDefer, { deferrer });
    const bad = defineJob('poison');
    const good = defineJob('good');
    app.post('/', () => {
      defer(bad, 0);
      for (let n = 0; n < 50; n++) defer(good, n);
      return {};
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    if (process.argv[1] === 'first') {
      await fetch('http://127.0.0.1:' + app.server.address().port, { method: 'POST' });
    }
    while (deferrer.queues.get('sink').depth > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await app.close();
    console.log('letters', deferrer.deadLetters.size);
  `;
  let output = '';
  let crashes = 0;
  for (let life = 0; life < 8 && !output.includes('letters'); life++) {
    const which = life === 0 ? 'first' : 'again';
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, which], {
      stdio: ['ignore', 'pipe', 'ignore'],
      cwd: import.meta.dirname,
    });
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code, signal] = await once(child, 'close');
    if (code === 1 || signal === 'SIGKILL') crashes++;
  }
  assert.equal(crashes, 3);
  assert.match(output, /letters 1/);
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  assert.equal(lines.filter((line) => line === 'poison').length, 3);
  assert.equal(new Set(lines.filter((line) => line !== 'poison')).size, 50);
}

test('a job that runs alone, because its process ended while it ran, keeps the order of its key', async (t) => {
  const directory = temporaryFolder(t);
  const log = join(directory, 'done');
  const source = (file: string): string =>
    JSON.stringify(join(import.meta.dirname, '../../src', file));
  const program = `
    const [{ createDefer, defineJob }, { handlers }, { appendFileSync }] = await Promise.all([
      import(${source('index.ts')}),
      import(${source('sinks/handlers.ts')}),
      import('node:fs'),
    ]);
    const life = Number(process.argv[1]);
    let isFirst = true;
    const handle = (n) => {
      // Behind the write of the jobs.
      if (life < 2) return new Promise(() => setImmediate(() => process.kill(process.pid, 'SIGKILL')));
      appendFileSync(${JSON.stringify(log)}, n + ' ');
      if (isFirst) {
        isFirst = false;
        throw new Error('once');
      }
    };
    const sink = handlers({ job: handle });
    const deferrer = createDefer({
      sinks: { sink: { sink, ordered: 'key', retry: { minMs: 100, maxMs: 100 } } },
      level: 'process',
      journal: { directory: ${JSON.stringify(join(directory, 'journal'))} },
      logger: false,
    });
    await deferrer.ready();
    const job = defineJob('job');
    if (life === 0) for (const n of [1, 2, 3, 4]) deferrer.defer(job, n, { key: 'k' });
    while (deferrer.queues.get('sink').depth > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await deferrer.close();
  `;
  for (const life of ['0', '1', '2']) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, life], {
      stdio: ['ignore', 'ignore', 'inherit'],
      cwd: import.meta.dirname,
    });
    const [code] = await once(child, 'close');
    assert.equal(code, life === '2' ? 0 : null);
  }
  assert.equal(readFileSync(log, 'utf8'), '1 1 2 3 4 ');
});
