import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { openPool } from './pools.ts';

describe('the socket of a worker', () => {
  test('lies in a folder that only this user may enter, and is gone once the worker has dialled', async (t) => {
    const folder = temporaryFolder(t);
    const pool = openPool(t, { size: 1, transport: 'socket' });
    const [name] = readdirSync(folder);
    assert.equal(statSync(join(folder, name!)).mode & 0o777, 0o700);
    await promisify(pool.exec)('true');
    assert.deepEqual(readdirSync(folder), []);
  });

  test('hangs up on a stranger who announces a long frame, and keeps none of it', async (t) => {
    const folder = temporaryFolder(t);
    const pool = openPool(t, { size: 1, transport: 'socket' });
    const stranger = connect(join(folder, readdirSync(folder)[0]!, 'worker'));
    let isClosed = false;
    stranger.on('error', () => {});
    const closed = new Promise<void>((resolve) =>
      stranger.on('close', () => {
        isClosed = true;
        resolve();
      }),
    );
    await once(stranger, 'connect');
    const head = Buffer.alloc(9);
    head.writeUInt32LE(0xffff_fff0, 0);
    stranger.write(head);
    const sent = await flood(stranger, () => isClosed);
    await closed;
    assert.ok(sent <= 8, `${sent} MB were taken`);
    assert.equal((await promisify(pool.exec)('echo fine')).stdout, 'fine\n');
  });

  test('hangs up on a stranger who says nothing, once the worker has dialled', async (t) => {
    const folder = temporaryFolder(t);
    const pool = openPool(t, { size: 1, transport: 'socket' });
    const stranger = connect(join(folder, readdirSync(folder)[0]!, 'worker'));
    stranger.on('error', () => {});
    const closed = once(stranger, 'close');
    await promisify(pool.exec)('true');
    await closed;
  });
});

/** Megabytes a peer has taken before it hung up, a hundred at most. */
async function flood(socket: Socket, isClosed: () => boolean): Promise<number> {
  const block = Buffer.alloc(2 ** 20);
  let sent = 0;
  while (sent < 100 && !isClosed()) {
    if (!socket.write(block)) {
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    }
    if (!isClosed()) sent++;
  }
  return sent;
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-strangers-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
