// The keys of a sealed journal: at the start, renewed, missing, wrong.
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { fastifyDefer } from '../src/adapters/fastify.ts';
import { nodeFs, type JournalFs } from '../src/journal/journal-fs.ts';
import type { SealOptions } from '../src/seal/seal-options.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestClock, turns } from './harness.ts';
import {
  assertNothingInClear,
  contentOf,
  isSealError,
  job,
  keyOf,
  leave,
  leaveDead,
  live,
  receive,
  seal,
  sealLater,
  secret,
  secretsOf,
  segmentsIn,
} from './sealed-lives.ts';

for (const [how, right, wrong] of [
  [
    'at once',
    seal('one'),
    {
      ...seal('one'),
      currentKey: () => ({ id: 'one', key: keyOf('two') }),
      keyOf: () => keyOf('two'),
    },
  ],
  [
    'later',
    sealLater('one'),
    {
      currentKey: async () => ({ id: 'one', key: keyOf('two') }),
      keyOf: async () => keyOf('two'),
    },
  ],
] as const) {
  test(`a wrong key that arrives ${how} is refused at the start, and nothing is changed`, async (t) => {
    const directory = temporaryFolder(t);
    await leave(directory, right, ['a', 'b']);
    const before = contentOf(directory);
    await assert.rejects(async () => {
      const { deferrer } = live(directory, wrong);
      await deferrer.ready();
    }, isSealError);
    assert.deepEqual(contentOf(directory), before);
    assert.deepEqual(secretsOf(await receive(t, directory, right, 2)), ['a', 'b']);
  });
}

test('a key that keyOf does not know, and a missing option, are refused at the start', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, seal('one'), ['a']);
  const before = contentOf(directory);
  assert.throws(() => live(directory, seal('two')), /is sealed with the key "one".*keyOf/);
  assert.throws(() => live(directory, undefined), /is sealed with the key "one".*journal\.seal/);
  assert.deepEqual(contentOf(directory), before);
});

test('the same if only dead letters are sealed', async (t) => {
  const directory = temporaryFolder(t);
  await leaveDead(directory, seal('one'));
  assert.deepEqual(segmentsIn(directory), []);
  assert.throws(() => live(directory, undefined), isSealError);
  assert.throws(() => live(directory, seal('two')), isSealError);
  // The newest is in clear, the older one is not.
  const folder = join(directory, 'dead');
  const letter = JSON.stringify({ diedAtMs: 1, reason: 'no' });
  writeFileSync(join(folder, 'z.dead'), `${letter}\n["z","test","job",null,1,1]\n1`);
  const later = live(directory, seal('two'));
  await assert.rejects(later.deferrer.ready(), isSealError);
  assert.throws(() => later.deferrer.defer(job, { secret: 'b' }), isSealError);
  assert.equal(readdirSync(folder).length, 2);
});

test('old keys open and the new key seals, across lives and in one that renews its key', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, seal('one'), ['a']);
  await leave(directory, sealLater('two', 'one'), ['b']);
  let ids = ['two', 'one'];
  const changing: SealOptions = {
    currentKey: () => seal(...ids).currentKey(),
    keyOf: (id) => seal(...ids).keyOf(id),
    renewEveryMs: 60_000,
  };
  const clock = new TestClock();
  const { deferrer, sink } = live(directory, changing, {
    clock,
    journal: { directory, seal: changing },
  });
  sink.isPaused = true;
  await deferrer.ready();
  await deferrer.defer(job, { secret: 'c' }).acknowledged();
  ids = ['three', 'two', 'one'];
  await clock.pass(60_000);
  await deferrer.defer(job, { secret: 'd' }).acknowledged();
  const keys = segmentsIn(directory).map(
    (file) => /"key":"(\w+)"/.exec(readFileSync(file, 'latin1'))![1],
  );
  assert.deepEqual(new Set(keys), new Set(['one', 'two', 'three']));
  // The state that kill -9 leaves between the first record under the new key and the next one.
  const crashed = temporaryFolder(t);
  cpSync(directory, crashed, { recursive: true, filter: (name) => !name.endsWith('.alive') });
  deferrer.closeSync();
  for (const name of readdirSync(crashed)) {
    if (!name.includes('~')) continue;
    renameSync(join(crashed, name), join(crashed, name.replace(/~.*/, '~free')));
  }
  const life = await receive(t, crashed, seal('three', 'two', 'one'), 4);
  assert.deepEqual([...new Set(secretsOf(life))], ['a', 'b', 'c', 'd']);
});

test('while no new key can be fetched the previous one seals, which is reported once', async (t) => {
  const directory = temporaryFolder(t);
  let isUp = true;
  const failing: SealOptions = {
    ...seal('one'),
    currentKey: async () => {
      if (!isUp) throw new Error('the KMS is away');
      return { id: 'one', key: keyOf('one') };
    },
    renewEveryMs: 1_000,
  };
  const clock = new TestClock();
  const { deferrer, logger } = live(directory, failing, {
    clock,
    journal: { directory, seal: failing },
  });
  t.after(() => deferrer.closeSync());
  await deferrer.ready();
  isUp = false;
  await clock.pass(5_000);
  await deferrer.defer(job, { secret }).acknowledged();
  assertNothingInClear(directory);
  const lines = logger.lines.filter((line) => line.includes('the KMS is away'));
  assert.equal(lines.length, 1, logger.lines.join('\n'));
});

test('sinks are open when createDefer returns, also while the key is fetched', async (t) => {
  const { deferrer, sink } = live(temporaryFolder(t), sealLater('one'));
  t.after(() => deferrer.close());
  assert.ok(sink.host !== undefined);
  await deferrer.ready();
});

test('until the key has arrived the journal acknowledges no job, and writes none in clear', async (t) => {
  const directory = temporaryFolder(t);
  const { promise: isHere, resolve } = Promise.withResolvers<void>();
  const slow: SealOptions = {
    currentKey: async () => isHere.then(() => seal('one').currentKey()),
    keyOf: () => undefined,
  };
  const { deferrer, sink } = live(directory, slow);
  t.after(() => deferrer.close());
  await assert.rejects(deferrer.defer(job, { secret }).acknowledged(), /await deferrer\.ready/);
  assertNothingInClear(directory);
  resolve();
  await deferrer.ready();
  await deferrer.defer(job, { secret }).acknowledged();
  assertNothingInClear(directory);
  await until('the job', () => sink.data.length > 0);
});

test('a renewed key seals nothing before the keys of all files are known to be right', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, seal('one'), ['a']);
  const { promise: isHere, resolve } = Promise.withResolvers<void>();
  const slow: SealOptions = {
    currentKey: () => ({ id: 'one', key: keyOf('two') }),
    keyOf: async () => isHere.then(() => keyOf('two')),
    renewEveryMs: 1_000,
  };
  const clock = new TestClock();
  const { deferrer } = live(directory, slow, { clock });
  t.after(() => deferrer.closeSync());
  await clock.pass(5_000);
  await assert.rejects(deferrer.defer(job, { secret }).acknowledged(), /await deferrer\.ready/);
  resolve();
  await assert.rejects(deferrer.ready(), isSealError);
});

test('a letter that the disk cannot read keeps no app from starting', async (t) => {
  const directory = temporaryFolder(t);
  mkdirSync(join(directory, 'dead', 'z.dead'), { recursive: true });
  const { deferrer } = live(directory, seal('one'));
  t.after(() => deferrer.close());
  await deferrer.ready();
  assert.equal((await deferrer.deadLetters.unreadable()).length, 1);
});

test('a disk that is full at the start keeps no sealed job from being delivered', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, seal('one'), ['a']);
  rmdirSync(join(directory, 'dead'));
  const fs: JournalFs = {
    ...nodeFs,
    mkdirSync(path) {
      if (path === directory) return nodeFs.mkdirSync(path);
      throw Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
    },
  };
  const { deferrer, sink } = live(directory, seal('one'), { journal: { directory, fs } });
  t.after(() => deferrer.close());
  await deferrer.ready();
  await until('the job', () => sink.data.length === 1);
});

test('a directory that cannot be used is one error, though the key cannot be fetched either', async (t) => {
  const directory = temporaryFolder(t);
  const fs: JournalFs = {
    ...nodeFs,
    mkdirSync(path) {
      if (path === directory) return nodeFs.mkdirSync(path);
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    },
  };
  const away = { ...seal('one'), currentKey: async () => Promise.reject(new Error('away')) };
  assert.throws(() => live(directory, away, { journal: { directory, fs } }), {
    code: 'ERR_REDLINE_DEFER_JOURNAL',
  });
  // A rejection that is not handled fails the test.
  await turns();
});

test('through HTTP: an app whose key is wrong does not start, and one with the key responds', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, seal('one'), ['a']);
  const wrong = fastify();
  const refused = live(directory, { ...sealLater('two'), keyOf: async () => keyOf('two') });
  wrong.register(fastifyDefer, { deferrer: refused.deferrer });
  await assert.rejects(async () => wrong.ready(), isSealError);
  const app = fastify();
  const { deferrer, sink } = live(directory, sealLater('two', 'one'));
  await app.register(fastifyDefer, { deferrer });
  t.after(() => app.close());
  app.get('/', async () => {
    deferrer.defer(job, { secret: 'b' });
    return 'ok';
  });
  assert.equal((await app.inject('/')).statusCode, 200);
  await until('both', () => sink.data.length === 2);
});

test('a journal whose key is unknown here is left to a process that knows it, and reported once', async (t) => {
  const directory = temporaryFolder(t);
  const { deferrer, sink, logger } = live(directory, seal('one'));
  t.after(() => deferrer.close());
  await deferrer.ready();
  const other = temporaryFolder(t);
  await leave(other, seal('two'), ['a']);
  const before = contentOf(other);
  cpSync(other, directory, { recursive: true });
  await until('the report', () => logger.lines.some((line) => line.includes('"two"')));
  await deferrer.defer(job, { secret: 'b' }).acknowledged();
  await until('the own job', () => sink.data.length === 1);
  assert.equal(logger.lines.filter((line) => line.includes('"two"')).length, 1);
  const now = contentOf(directory);
  for (const [name, bytes] of before) assert.equal(now.get(name), bytes, name);
  const life = await receive(t, directory, seal('one', 'two'), 1);
  assert.deepEqual(secretsOf(life), ['a']);
});

test('wrong options of journal.seal and invalid keys are refused at the call', (t) => {
  const directory = temporaryFolder(t);
  const good = seal('one');
  assert.throws(
    () => live(directory, { ...good, keys: 1 } as never),
    /Unknown option "keys" of journal\.seal/,
  );
  assert.throws(
    () => live(directory, { ...good, keyOf: undefined } as never),
    /journal\.seal\.keyOf must be a function; got undefined/,
  );
  const short = () => ({ id: 'one', key: Buffer.from('too short') });
  assert.throws(() => live(directory, { ...good, currentKey: short }), /must be 32 bytes.*got 9/);
  assert.deepEqual(readdirSync(directory), []);
});
