// Jobs that can never be done, through HTTP: as many are kept as may be, and none is lost on its way back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fastify from 'fastify';
import { fastifyDefer } from '../src/adapters/fastify.ts';
import { createDefer } from '../src/create-defer.ts';
import { defer } from '../src/defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { defineJob } from '../src/job/job.ts';
import { nodeFs, type JournalFs } from '../src/journal/journal-fs.ts';
import { dead } from '../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestSink } from './harness.ts';

const command = join(import.meta.dirname, '../bin/redline-defer.mjs');
const job = defineJob<number>('job', { level: 'process' });

interface App {
  readonly directory: string;
  readonly deferrer: Deferrer;
  readonly sink: TestSink;
  /** One request that defers so many jobs. */
  ask(count: number): Promise<void>;
}

async function start(
  t: TestContext,
  options: { maxDeadLetters?: number; fs?: JournalFs } = {},
): Promise<App> {
  const directory = temporaryFolder(t);
  const { maxDeadLetters = 10_000, fs = nodeFs } = options;
  const sink = new TestSink();
  sink.answer = (batch) => batch.map(() => dead(new Error('no such mailbox')));
  const deferrer = createDefer({
    sinks: { mail: { sink, batch: { waitMs: 0 } } },
    journal: { directory, adoptEveryMs: 5, fs },
    maxDeadLetters,
    handleSignals: false,
    logger: false,
  });
  const app = fastify({ forceCloseConnections: true });
  await app.register(fastifyDefer, { deferrer });
  app.get<{ Params: { count: string } }>('/:count', async ({ params: { count } }) => {
    for (let n = 0; n < Number(count); n++) defer(job, n);
    return {};
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => app.close());
  return {
    directory,
    deferrer,
    sink,
    async ask(count) {
      assert.equal((await fetch(`${url}/${count}`)).status, 200);
    },
  };
}

function filesOf({ directory }: App): number {
  return readdirSync(join(directory, 'dead')).filter((name) => !name.endsWith('.new')).length;
}

test('however many die at once, no more letters than maxDeadLetters are kept, and the others counted', async (t) => {
  const app = await start(t, { maxDeadLetters: 100 });
  const { deferrer } = app;
  const { stats } = deferrer.queues.get('mail')!;
  await Promise.all(Array.from({ length: 20 }, () => app.ask(50)));
  let maxLetters = 0;
  await until('their end', () => {
    const kept = filesOf(app);
    maxLetters = Math.max(maxLetters, kept);
    const counted = stats.dropped['dead-letters-full'];
    return counted >= 900 && kept + counted === 1_000 && deferrer.deadLetters.size === kept;
  });
  assert.ok(maxLetters <= 100, `there were ${maxLetters}`);
  const left = filesOf(app);
  assert.ok(left > 0);
  assert.equal(stats.dropped['dead-letters-full'], 1_000 - left);
});

test('a job that dies again before it is safe that it was requeued keeps its letter', async (t) => {
  let release: Promise<void> | undefined;
  const fs: JournalFs = {
    ...nodeFs,
    fdatasync(fd, done) {
      void Promise.resolve(release).then(() => nodeFs.fdatasync(fd, done));
    },
  };
  const app = await start(t, { fs });
  const { deadLetters } = app.deferrer;
  await app.ask(1);
  await until('the letter', () => deadLetters.size === 1);
  app.sink.answer = (batch) => batch.map(() => dead(new Error('not yet')));
  release = until('its death', async () =>
    (await deadLetters.list()).some(({ reason }) => reason.includes('not yet')),
  );
  assert.equal(await deadLetters.requeueAll(), 1);
  const left = await deadLetters.list();
  assert.equal(left.length, 1);
  assert.match(left[0]!.reason, /not yet/);
  assert.equal(deadLetters.size, 1);
  app.sink.answer = () => undefined;
  assert.equal(await deadLetters.requeue(left[0]!.record.id), true);
  await until('the job', () => app.deferrer.queues.get('mail')!.depth === 0);
  assert.equal(filesOf(app), 0);
});

test('a letter that was being requeued when its process was killed is a letter still', async (t) => {
  const app = await start(t);
  const { deadLetters } = app.deferrer;
  await app.ask(1);
  await until('the letter', () => deadLetters.size === 1);
  const [name] = readdirSync(join(app.directory, 'dead'));
  const path = join(app.directory, 'dead', name!);
  renameSync(path, path.replace(/\.dead$/, '.requeued'));
  const [letter] = await deadLetters.list();
  assert.equal(deadLetters.size, 1);
  app.sink.answer = () => undefined;
  const done = app.sink.batches.length;
  assert.equal(await deadLetters.requeue(letter!.record.id), true);
  await until('the job', () => app.sink.batches.length === done + 1);
  assert.equal(filesOf(app), 0);
  assert.equal(deadLetters.size, 0);
});

test('inspect --requeue of jobs that die again loses none', async (t) => {
  const app = await start(t);
  const count = 2_000;
  await app.ask(count);
  await until('the letters', () => filesOf(app) === count);
  const child = spawn(process.execPath, [command, 'inspect', app.directory, '--requeue']);
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
  const queue = app.deferrer.queues.get('mail')!;
  await until('their second death', () => queue.stats.dead === 2 * count);
  await app.deferrer.drain();
  assert.equal(filesOf(app), count);
});

test('a letter that cannot be read is listed as such, stands in the way of no other, and can be removed', async (t) => {
  const app = await start(t);
  const { directory, deferrer, sink } = app;
  const { deadLetters } = deferrer;
  await app.ask(3);
  await until('the letters', () => deadLetters.size === 3);
  const [first, ...others] = await deadLetters.list();
  const file = join(directory, 'dead', `${first!.record.id}.dead`);
  writeFileSync(file, '{"diedAtMs":17');
  assert.deepEqual(await deadLetters.list(), others);
  const unreadable = await deadLetters.unreadable();
  assert.deepEqual(
    unreadable.map(({ reason, ...rest }) => [rest, typeof reason]),
    [[{ id: first!.record.id, file }, 'string']],
  );
  assert.equal(deadLetters.size, 3);
  await assert.rejects(deadLetters.requeue(first!.record.id), {
    code: 'ERR_REDLINE_DEFER_DAMAGED',
    message: new RegExp(first!.record.id),
  });
  const listed = await inspect(directory);
  assert.equal(listed.status, 1);
  assert.match(
    listed.stdout,
    new RegExp(`unreadable: the dead letter ${first!.record.id}, ${file}: .*JSON`),
  );
  assert.match(listed.stdout, new RegExp(others[0]!.record.id));
  sink.answer = () => undefined;
  assert.equal(await deadLetters.requeueAll(), 2);
  await until('the others', () => sink.data.length === 5);
  const removed = await inspect(directory, '--remove', '--id', first!.record.id);
  assert.deepEqual([removed.status, removed.stdout], [0, '1 dead letter removed.\n']);
  assert.deepEqual(await deadLetters.unreadable(), []);
  assert.equal(deadLetters.size, 0);
});

async function inspect(
  directory: string,
  ...args: string[]
): Promise<{ status: number; stdout: string }> {
  const child = spawn(process.execPath, [command, 'inspect', directory, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const [status] = (await once(child, 'close')) as [number];
  return { status, stdout };
}
