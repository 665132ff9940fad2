import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { defineJob } from '../src/job/job.ts';
import { frameHeaderBytes, frameKinds, sealFrame, segmentSalt } from '../src/journal/frame.ts';
import { dead } from '../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder } from './harness.ts';
import {
  assertNothingInClear,
  job,
  leave,
  leaveDead,
  live,
  receive,
  seal,
  secret,
  secretsOf,
  segmentsIn,
} from './sealed-lives.ts';

const cli = join(import.meta.dirname, '../src/inspect/cli.ts');
const named = defineJob<{ secret: string }>('nightly');

test('waiting, delayed, keyed, scheduled and dead jobs have nothing in clear on disk, and all are done', async (t) => {
  const directory = temporaryFolder(t);
  const { deferrer, sink } = live(directory, seal('one'));
  await deferrer.ready();
  sink.answer = (batch) =>
    batch.map(({ json }) => {
      if (json.includes('dies')) return dead(new Error(`no such mailbox: ${secret}`));
      throw new Error('away');
    });
  await deferrer.defer(job, { secret: `${secret} dies` }).acknowledged();
  await until('the letter', () => deferrer.deadLetters.size === 1);
  const call = { key: 'customer-key' } as const;
  await deferrer.defer(job, { secret: `${secret} waits` }, call).acknowledged();
  await deferrer.defer(job, { secret: `${secret} later` }, { delayMs: 3_600_000 }).acknowledged();
  const replaced = { key: 'customer-key-2', delayMs: 50, onDuplicate: 'replace' } as const;
  await deferrer.defer(job, { secret: `${secret} replaced` }, replaced).acknowledged();
  await deferrer.defer(job, { secret: `${secret} replacing` }, replaced).acknowledged();
  deferrer.schedule(named, { secret: `${secret} nightly` }, { everyMs: 100, name: 'tenant-7' });
  await until('a moment', () => readdirSync(directory).includes('schedules'));
  await until('its job', () => deferrer.queues.get('test')!.depth > 4);
  assertNothingInClear(directory);
  await deferrer.close({ drainMs: 0 });
  assertNothingInClear(directory);

  const next = await receive(t, directory, seal('one'), 1);
  await until('the waiting job', () => secretsOf(next).includes(`${secret} waits`));
  await until('the replacing job', () => secretsOf(next).includes(`${secret} replacing`));
  assert.ok(!secretsOf(next).includes(`${secret} replaced`));
  await until('the scheduled job', () => secretsOf(next).includes(`${secret} nightly`));
  assert.equal(next.deferrer.stats().sinks[0]!.delayed, 1, 'the one of an hour later');
  const [letter] = await next.deferrer.deadLetters.list();
  assert.match(letter!.reason, new RegExp(secret));
  assert.equal(letter!.sealedWith, 'one');
  await next.deferrer.deadLetters.requeue(letter!.record.id);
  await until('the dead one', () => secretsOf(next).includes(`${secret} dies`));
  assertNothingInClear(directory);
});

test('journals and letters in clear, of earlier versions, are read; later records are sealed', async (t) => {
  const directory = temporaryFolder(t);
  const { deferrer, sink } = live(directory, undefined);
  sink.answer = (batch) =>
    batch.map(({ json }) => {
      if (json.includes('dies')) return dead(new Error('no'));
      throw new Error('away');
    });
  await deferrer.defer(job, { secret: `${secret} dies` }).acknowledged();
  await until('the letter', () => deferrer.deadLetters.size === 1);
  await deferrer.defer(job, { secret: `${secret} waits` }).acknowledged();
  await deferrer.close({ drainMs: 0 });

  const next = await receive(t, directory, seal('one'), 1);
  assert.equal(await next.deferrer.deadLetters.requeueAll(), 1);
  await until('both', () => next.sink.data.length === 2);
  assert.deepEqual(secretsOf(next), [`${secret} dies`, `${secret} waits`]);
  await until('the end of the old segments', () => {
    return segmentsIn(directory).every((file) => !readFileSync(file, 'latin1').includes(secret));
  });
  assertNothingInClear(directory);
});

/** Frames of a segment; `number` is that of its job. */
function framesOf(bytes: Buffer): { kind: number; number: number; start: number; end: number }[] {
  const frames = [];
  for (let start = 16; start < bytes.length;) {
    const end = start + frameHeaderBytes + bytes.readUInt32BE(start + 8);
    frames.push({ kind: bytes[start + 5]!, number: bytes.readUInt32BE(start + 16), start, end });
    start = end;
  }
  return frames;
}

test('a record that was moved to the place of another, or into another file, is damage even with a right checksum', async (t) => {
  const directory = temporaryFolder(t);
  const texts = ['aaaa', 'bbbb', 'cccc'];
  await leave(directory, seal('one'), texts);
  await leave(directory, seal('one'), ['dddd']);
  const [file, other] = segmentsIn(directory) as [string, string];
  const bytes = readFileSync(file);
  const isJob = ({ kind }: { kind: number }): boolean => kind === frameKinds.sealedJob;
  const [first, second] = framesOf(bytes).filter(isJob);
  assert.ok(first !== undefined && second !== undefined);
  const foreignBytes = readFileSync(other);
  const foreign = framesOf(foreignBytes).find(isJob)!;
  const id = /([0-9a-z-]+)~/.exec(file)![1]!;
  const put = (from: Buffer, frame: { start: number; end: number }): void => {
    const damaged = Buffer.from(bytes);
    assert.equal(frame.end - frame.start, first.end - first.start);
    from.copy(damaged, first.start, frame.start, frame.end);
    const length = frame.end - frame.start - frameHeaderBytes;
    // With the number and the checksum of the record that was there.
    const salt = segmentSalt(id, 1);
    sealFrame(damaged, first.start, frameKinds.sealedJob, first.number, length, salt);
    writeFileSync(file, damaged);
  };
  for (const [from, frame] of [
    [bytes, second],
    [foreignBytes, foreign],
  ] as const) {
    put(from, frame);
    const copy = temporaryFolder(t);
    cpSync(directory, copy, { recursive: true });
    const { deferrer, sink, logger } = live(copy, seal('one'));
    await deferrer.ready();
    await until('the others', () => sink.data.length === 3);
    assert.match(
      logger.lines.join('\n'),
      new RegExp(
        `has ${first.end - first.start} damaged bytes at ${first.start}, with up to 1 jobs`,
      ),
    );
    await deferrer.close();
    assert.ok(readdirSync(copy).some((name) => name.startsWith('damaged-')));
  }
});

test('a letter under the name of another cannot be read, and stays', async (t) => {
  const directory = temporaryFolder(t);
  await leaveDead(directory, seal('one'));
  const { deferrer } = live(directory, seal('one'));
  t.after(() => deferrer.close());
  await deferrer.ready();
  const folder = join(directory, 'dead');
  const [name] = readdirSync(folder);
  cpSync(join(folder, name!), join(folder, 'other.dead'));
  const text = readFileSync(join(folder, name!), 'utf8');
  const [note, body] = text.split('\n') as [string, string];
  const flipped = Buffer.from(body, 'base64');
  flipped[3]! ^= 1;
  writeFileSync(join(folder, name!), `${note}\n${flipped.toString('base64')}\n`);
  const unreadable = await deferrer.deadLetters.unreadable();
  assert.deepEqual(
    unreadable.map(({ reason }) => /another key|differ/.exec(reason)?.[0]).toSorted(),
    ['another key', 'differ'],
  );
  assert.deepEqual(await deferrer.deadLetters.list(), []);
  assert.equal(readdirSync(folder).length, 2);
});

test('a letter whose first line is damaged is reported, and keeps no app from starting', async (t) => {
  const directory = temporaryFolder(t);
  await leaveDead(directory, seal('one'));
  const folder = join(directory, 'dead');
  const file = join(folder, readdirSync(folder)[0]!);
  const whole = readFileSync(file);
  for (const field of ['"key":"', '"salt":"', '"check":"']) {
    const damaged = Buffer.from(whole);
    damaged[whole.indexOf(field) + field.length]! ^= 1;
    writeFileSync(file, damaged);
    const next = live(directory, seal('one'));
    await next.deferrer.ready();
    assert.equal((await next.deferrer.deadLetters.unreadable()).length, 1, field);
    await next.deferrer.close();
  }
});

test('inspect lists, exports and requeues with --seal, and names the keys in use; without it, it names the missing key', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, seal('one'), [secret]);
  const { deferrer, sink } = live(directory, seal('two', 'one'));
  sink.answer = (batch) => batch.map(() => dead(new Error('no')));
  await until('the letter', () => deferrer.deadLetters.size === 1);
  await deferrer.close();
  await leave(directory, seal('two'), ['waits']);
  const module = join(temporaryFolder(t), 'keys.mjs');
  writeFileSync(
    module,
    `import { createHash } from 'node:crypto';
const keyOf = (id) => createHash('sha256').update(id).digest();
export default { currentKey: async () => ({ id: 'two', key: keyOf('two') }), keyOf: async (id) => keyOf(id) };
`,
  );
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [cli, 'inspect', directory, ...args], { encoding: 'utf8' });
  const without = run();
  assert.equal(without.status, 1);
  assert.match(without.stderr, /ERR_REDLINE_DEFER_SEAL: .*sealed with the key "two".*--seal FILE/);
  const list = run('--seal', module);
  assert.equal(list.status, 0, list.stderr);
  assert.match(list.stdout, /1 waiting.*sealed with two/);
  assert.match(list.stdout, /dead letters are sealed with two/);
  const exported = run('--seal', module, '--export');
  assert.match(exported.stdout, new RegExp(secret));
  assert.equal(run('--seal', join(directory, 'none.mjs')).status, 2);
  assert.equal(run('--seal', module, '--requeue').status, 0);
  assertNothingInClear(directory);
  assert.deepEqual(
    secretsOf(await receive(t, directory, seal('two'), 2)),
    [secret, 'waits'].toSorted(),
  );
});
