import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDefer } from '../src/create-defer.ts';
import { runInspect } from '../src/inspect/inspect.ts';
import { defineJob } from '../src/job/job.ts';
import { dead } from '../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestSink, turns } from './harness.ts';

const cli = join(import.meta.dirname, '../src/inspect/cli.ts');

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
}

test('stops where its reader does', async (t) => {
  const directory = temporaryFolder(t);
  const app = createDefer({
    sinks: { mail: { sink: new TestSink(), batch: { waitMs: 60_000 } } },
    journal: { directory },
    level: 'process',
    handleSignals: false,
  });
  t.after(() => app.close());
  const send = defineJob<string>('send');
  await Promise.all(
    Array.from({ length: 500 }, () => app.defer(send, 'x'.repeat(1_000)).acknowledged()),
  );
  const child = spawn(process.execPath, [cli, 'inspect', directory, '--export']);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  child.stdout.once('data', () => child.stdout.destroy());
  await once(child, 'close');
  assert.doesNotMatch(errors, /EPIPE/);
});

test('lists, exports, requeues and removes, also while the app runs', async (t) => {
  const directory = temporaryFolder(t);
  const sink = new TestSink();
  sink.answer = (batch) => {
    if (batch.some(({ json }) => json.includes('away'))) throw new Error('away');
    return batch.map(() => dead(new Error('no such mailbox')));
  };
  const start = (each: TestSink) =>
    createDefer({
      sinks: {
        mail: { sink: each, batch: { waitMs: 0, jobs: 1 }, breaker: { minMs: 1, maxMs: 2 } },
      },
      journal: { directory, adoptEveryMs: 5 },
      level: 'process',
      handleSignals: false,
      logger: false,
    });
  const app = start(sink);
  const send = defineJob<{ to: string }>('send');
  const letter = app.defer(send, { to: 'ada' }, { key: 'a' });
  await letter.acknowledged();
  await until('the letter', () => app.deadLetters.size === 1);
  const waiting = app.defer(send, { to: 'away' });
  await waiting.acknowledged();

  const list = run('inspect', directory);
  assert.equal(list.status, 0, list.stderr);
  assert.match(list.stdout, /its process runs +1 waiting, 0 sent/);
  assert.match(list.stdout, new RegExp(`waiting +${waiting.id} .* mail +send +\\{"to":"away"\\}`));
  assert.match(
    list.stdout,
    new RegExp(`dead +${letter.id} .* key a +\\{"to":"ada"\\}\n +Error: no such mailbox`),
  );

  assert.match(
    list.stdout,
    /mail send {2}1 waiting, the oldest of \S+Z, 1 dead, 1 failed attempts\n {2}last failure: \S+Z {2}Error: no such mailbox/,
  );

  const exported = run('inspect', directory, '--export', '--state', 'dead');
  assert.deepEqual(JSON.parse(exported.stdout).data, { to: 'ada' });
  const json = JSON.parse(run('inspect', directory, '--json').stdout);
  assert.equal(json.jobs.length, 2);
  assert.equal(json.names[0].depth, 1);

  sink.answer = () => undefined;
  const requeued = run('inspect', directory, '--requeue');
  assert.match(requeued.stdout, /1 job requeued; a running app takes them/);
  await until(
    'the job',
    () => sink.data.filter((data) => (data as { to: string }).to === 'ada').length === 2,
  );
  await until('its mark', () => app.queues.get('mail')!.depth === 0);
  await turns();
  assert.match(run('inspect', directory).stdout, /0 jobs/);

  sink.answer = (batch) => batch.map(() => dead('no'));
  await app.defer(send, { to: 'bob' }).acknowledged();
  await until(
    'the letter',
    () => !run('inspect', directory, '--state', 'dead').stdout.includes('\n0 jobs'),
  );
  assert.equal(run('inspect', directory, '--remove').status, 2, 'says which');
  assert.match(
    run('inspect', directory, '--remove', '--job', 'send').stdout,
    /1 dead letter removed/,
  );
  await app.close();
});

test('says what is wrong with a call, and with a directory', (t) => {
  const directory = temporaryFolder(t);
  assert.equal(run().status, 2);
  assert.equal(run('--help').status, 0);
  assert.match(run('look', directory).stderr, /the only one is inspect/);
  assert.match(run('inspect').stderr, /Exactly one DIRECTORY/);
  assert.equal(run('inspect', directory, '--state', 'alive').status, 2);
  assert.equal(run('inspect', directory, '--wrong').status, 2);
  const missing = run('inspect', join(directory, 'missing'));
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /ERR_REDLINE_DEFER_JOURNAL: .*missing cannot be read/);
  assert.match(run('inspect', directory).stdout, /No journals\.\n0 jobs/);
});

test(
  'what root requeues belongs to the user of the app, who could not take it over otherwise',
  { skip: process.getuid?.() !== 0 && 'only root can be another user' },
  async (t) => {
    const directory = temporaryFolder(t);
    const sink = new TestSink();
    sink.answer = (batch) => batch.map(() => dead('no'));
    const deferrer = createDefer({
      sinks: { test: sink },
      journal: { directory },
      logger: false,
      handleSignals: false,
    });
    await deferrer.defer(defineJob<number>('job'), 1, { level: 'process' }).acknowledged();
    await until('the letter', () => deferrer.deadLetters.size === 1);
    await deferrer.close();
    const app = 54_321;
    chownSync(join(directory, 'dead'), app, app);
    const { stdout } = run('inspect', directory, '--requeue');
    assert.match(stdout, /1 job requeued/);
    const folder = readdirSync(directory).find((name) => name.endsWith('~free'))!;
    const paths = [
      folder,
      ...readdirSync(join(directory, folder)).map((name) => join(folder, name)),
    ];
    assert.ok(paths.length > 1);
    for (const path of paths) assert.equal(statSync(join(directory, path)).uid, app, path);
  },
);

test('says to another user that it cannot read the dead letters, and not that there are none', async (t) => {
  if (process.platform === 'win32') return t.skip('Files have no modes.');
  const directory = temporaryFolder(t);
  const sink = new TestSink();
  sink.answer = (batch) => batch.map(() => dead(new Error('no such mailbox')));
  const app = createDefer({
    sinks: { mail: sink },
    journal: { directory },
    level: 'process',
    handleSignals: false,
    logger: false,
  });
  app.defer(defineJob<object>('send'), {});
  await until('the letter', () => app.deadLetters.size === 1);
  await app.close();
  const [letter] = readdirSync(join(directory, 'dead'));
  chmodSync(directory, 0o755);
  chmodSync(join(directory, 'dead', letter!), 0);
  const isRoot = process.geteuid!() === 0;
  for (const options of [{}, { requeue: true }, { remove: true, all: true }, { serve: true }]) {
    // Modes do not keep root out.
    if (isRoot) process.seteuid!(65_534);
    try {
      await assert.rejects(
        runInspect(directory, options, () => {}),
        { code: 'ERR_REDLINE_DEFER_JOURNAL', message: /EACCES/ },
      );
    } finally {
      if (isRoot) process.seteuid!(0);
    }
  }
});
