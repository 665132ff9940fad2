// Somebody removes the journal of an app that runs.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fastify from 'fastify';
import { fastifyDefer } from '../../src/adapters/fastify.ts';
import { createDefer } from '../../src/create-defer.ts';
import { defer } from '../../src/defer.ts';
import { readDirectory } from '../../src/directory/read-directory.ts';
import { defineJob } from '../../src/job/job.ts';
import { nodeFs, type JournalFs } from '../../src/journal/journal-fs.ts';
import { retry } from '../../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestLogger, TestSink } from '../harness.ts';

const job = defineJob<string>('job');

function ownFolder(directory: string): string {
  return join(
    directory,
    readdirSync(directory).find((name) => name.includes('~'))!,
  );
}

const removals: Record<string, (directory: string) => void> = {
  'its files': (directory) => {
    for (const name of readdirSync(ownFolder(directory))) rmSync(join(ownFolder(directory), name));
  },
  'its folder': (directory) => rmSync(ownFolder(directory), { recursive: true }),
  'the directory of all journals': (directory) => rmSync(directory, { recursive: true }),
  'the directory, which somebody makes again': (directory) => {
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
  },
};

for (const [what, remove] of Object.entries(removals)) {
  for (const level of ['process', 'disk'] as const) {
    test(`no reply claims what was written behind the removal of ${what}, at level ${level}`, async (t) => {
      const directory = join(temporaryFolder(t), 'journal');
      const sink = new TestSink();
      const logger = new TestLogger();
      const deferrer = createDefer({
        sinks: { test: { sink, batch: { waitMs: 0 }, breaker: { minMs: 1, maxMs: 1 } } },
        journal: { directory },
        handleSignals: false,
        logger,
      });
      sink.answer = () => {
        throw new Error('away');
      };
      const app = fastify({ forceCloseConnections: true });
      await app.register(fastifyDefer, { deferrer });
      app.get<{ Params: { name: string } }>('/:name', async ({ params: { name } }) => {
        defer(job, name, { level });
        return {};
      });
      const url = await app.listen({ port: 0, host: '127.0.0.1' });
      t.after(() => app.close());
      const ask = async (name: string): Promise<number> => (await fetch(`${url}/${name}`)).status;

      for (let n = 0; n < 3; n++) assert.equal(await ask(`before${n}`), 200);
      remove(directory);
      const acknowledged: string[] = [];
      const statuses: number[] = [];
      for (let n = 0; n < 5; n++) {
        const status = await ask(`behind${n}`);
        statuses.push(status);
        if (status === 200) acknowledged.push(`behind${n}`);
      }
      // None is refused where a retry of the sink was the next to write.
      assert.deepEqual(statuses.slice(1), [200, 200, 200, 200]);
      assert.ok(statuses[0] === 200 || statuses[0] === 503, String(statuses[0]));
      // What the next process would find, were this one killed now.
      const { jobs } = await readDirectory(directory, undefined);
      const kept = new Set(jobs.map(({ record }) => JSON.parse(record.json) as string));
      assert.deepEqual(
        acknowledged.filter((name) => !kept.has(name)),
        [],
      );
      assert.match(logger.lines.join('\n'), /cannot be written: its file was removed/);
      // What memory has is delivered all the same.
      const arrived = new Set<string>();
      sink.answer = (batch) => {
        for (const { json } of batch) arrived.add(JSON.parse(json) as string);
      };
      await until('the jobs', () => arrived.size >= 7);
    });
  }
}

test('a file begun behind a removal belongs to the journal, though the checkpoint before it was still being synced', async (t) => {
  const directory = join(temporaryFolder(t), 'journal');
  const names = new Map<number, string>();
  const over = Promise.withResolvers<void>();
  const held: (() => void)[] = [];
  const fs: JournalFs = {
    ...nodeFs,
    openSync(path, flags) {
      const fd = nodeFs.openSync(path, flags);
      names.set(fd, path);
      return fd;
    },
    // The folder is synced behind the rename of its checkpoint.
    fdatasync(fd, done) {
      const isOfCheckpoint = existsSync(join(names.get(fd)!, 'checkpoint'));
      if (!isOfCheckpoint || held.length > 0) return nodeFs.fdatasync(fd, done);
      held.push(() => {
        nodeFs.fdatasync(fd, (error) => {
          done(error);
          setImmediate(over.resolve);
        });
      });
    },
  };
  const sink = new TestSink();
  const deferrer = createDefer({
    sinks: { test: { sink, batch: { waitMs: 0 } } },
    journal: { directory, fs, segmentBytes: 65_536, replayWindowMs: 0 },
    handleSignals: false,
    logger: new TestLogger(),
  });
  t.after(() => deferrer.close({ drainMs: 0 }));
  // The first waits for another try, so the segments behind it go with a checkpoint.
  const stays = (json: string): boolean => json === '"stays"' || json === '"behind"';
  sink.answer = (batch) =>
    batch.map(({ json }) => (stays(json) ? retry('later', 60_000) : undefined));
  await deferrer.defer(job, 'stays', { level: 'process' }).acknowledged();
  while (held.length === 0) {
    await deferrer.defer(job, 'x'.repeat(30_000), { level: 'process' }).acknowledged();
  }
  rmSync(ownFolder(directory), { recursive: true });
  await until('a file of its own', async () => {
    await deferrer
      .defer(job, 'behind', { level: 'disk' })
      .acknowledged()
      .catch(() => {});
    return deferrer.journalBytes! > 0;
  });
  held[0]!();
  await over.promise;
  assert.ok(deferrer.journalBytes! > 0);
});
