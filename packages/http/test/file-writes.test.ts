import assert from 'node:assert/strict';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pino } from 'pino';
import { FileWrites } from '../src/engine-log/file-writes.ts';

/** A destination of pino that gathers lines, and bytes that are written to its file. */
async function gathering(): Promise<
  AsyncDisposable & {
    dest: string;
    stream: ReturnType<typeof pino.destination>;
    writes: FileWrites;
    /** Resolves when bytes were written. */
    written: Promise<void>;
    read(path?: string): Promise<string>;
  }
> {
  const folder = await mkdtemp(join(tmpdir(), 'redline-writes-'));
  const dest = join(folder, 'log');
  const stream = pino.destination({ dest, sync: false, minLength: 4_000 });
  await once(stream, 'ready');
  const { promise: written, resolve } = Promise.withResolvers<void>();
  return {
    dest,
    stream,
    writes: new FileWrites(stream, resolve),
    written,
    read: (path = dest) => readFile(path, 'utf8'),
    async [Symbol.asyncDispose]() {
      stream.destroy();
      await rm(folder, { recursive: true });
    },
  };
}

const first = Buffer.from('first\n');

describe('bytes for the file of a destination of pino', () => {
  test('come before what is written meanwhile', async () => {
    await using log = await gathering();
    assert.equal(log.writes.canWrite, true);
    log.writes.write(first);
    assert.equal(log.writes.isWriting, true);
    assert.equal(log.writes.canWrite, false);
    log.stream.write('second\n');
    log.stream.write('third\n');
    const flushed = new Promise<void>((resolve) => log.stream.flush(() => resolve()));
    await log.written;
    await flushed;
    assert.equal(await log.read(), 'first\nsecond\nthird\n');
    assert.equal(log.writes.canWrite, true);
  });

  test('are not written while the destination has lines, or writes', async () => {
    await using log = await gathering();
    log.stream.write('first\n');
    assert.equal(log.writes.canWrite, false);
    const drained = once(log.stream, 'drain');
    log.stream.flush();
    assert.equal(log.writes.canWrite, false);
    await drained;
    assert.equal(log.writes.canWrite, true);
  });

  test('are in the file that was open when they were written', async () => {
    await using log = await gathering();
    log.writes.write(first);
    await rename(log.dest, `${log.dest}.1`);
    log.stream.reopen();
    const reopened = once(log.stream, 'drain');
    await log.written;
    await reopened;
    log.stream.write('second\n');
    log.stream.flushSync();
    assert.deepEqual([await log.read(`${log.dest}.1`), await log.read()], ['first\n', 'second\n']);
  });

  test('and what follows them are there once the destination has ended', async () => {
    await using log = await gathering();
    log.writes.write(first);
    log.stream.write('second\n');
    log.stream.end();
    await once(log.stream, 'close');
    assert.equal(await log.read(), 'first\nsecond\n');
  });

  test('leave what is flushed meanwhile to the destination, which waits for nothing', async () => {
    await using log = await gathering();
    log.writes.write(first);
    log.stream.write('second\n');
    log.stream.flushSync();
    assert.match(await log.read(), /second\n/);
    await log.written;
    assert.deepEqual((await log.read()).split('\n').toSorted(), ['', 'first', 'second']);
  });

  test('that cannot be written are an error of the destination', async () => {
    await using log = await gathering();
    const fd = openSync(log.dest, 'r');
    const stream = pino.destination({ fd, sync: false, minLength: 4 });
    const writes = new FileWrites(stream, () => {});
    const failed = once(stream, 'error');
    assert.equal(writes.canWrite, true);
    writes.write(first);
    const [error] = (await failed) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'EBADF');
    stream.destroy();
  });

  test('are not written to a destination that is no file, closed or not open yet', async () => {
    await using log = await gathering();
    const device = pino.destination({ dest: '/dev/null', sync: false, minLength: 4_000 });
    await once(device, 'ready');
    assert.equal(new FileWrites(device, () => {}).canWrite, false);
    device.destroy();
    const later = pino.destination({ dest: log.dest, sync: false, minLength: 4_000 });
    assert.equal(new FileWrites(later, () => {}).canWrite, false);
    await once(later, 'ready');
    later.destroy();
    log.stream.destroy();
    assert.equal(log.writes.canWrite, false);
  });
});
