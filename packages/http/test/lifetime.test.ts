import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { engine } from '../src/index.ts';
import { isNode26 } from '../src/node/node-internals.ts';
import { combine, LARGE, liveAll, nameOf } from './lifetime/lives.ts';

const skip = engine().name === 'node';

/** States in which a client that stays, and does nothing, keeps the loop of node:http alive: lifetime.slow.test.ts compares. */
const HOLDING = new Set(['handling', 'small upload', 'writing', 'upgraded']);
/** Node 26 counts a connection without a request as idle, and close() ends it. */
const IDLE = new Set(['idle']);
for (const state of ['connected', 'bytes read']) (isNode26 ? IDLE : HOLDING).add(state);

type Child = ChildProcessByStdio<null, Readable, null>;

async function run(program: string, ...args: string[]): Promise<[Child, number]> {
  const path = join(import.meta.dirname, 'lifetime', program);
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
  const child = spawn(process.execPath, [path, ...args], { stdio });
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  return [child, Number(text)];
}

describe('a process without anything left to do:', { skip, timeout: 600_000 }, () => {
  test('a connection that is not read, and has nothing to send, does not keep it', async () => {
    const lives = combine({ engine: ['native'], reference: ['none', 'unref'] });
    const outcomes = await liveAll(lives);
    for (const life of lives) {
      const stays = life.reference === 'none' ? HOLDING.has(life.state) : life.state === 'writing';
      const outcome = IDLE.has(life.state) && life.reference === 'none' ? 'ends, closed' : 'ends';
      assert.equal(outcomes[nameOf(life)], stays ? 'stays' : outcome, nameOf(life));
    }
  });

  test('an unread upload whose client has left does not keep it once the server is closed', async () => {
    const [child, port] = await run('unread-upload.ts');
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {});
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE}\r\n\r\n`);
    client.write(Buffer.alloc(LARGE / 2));
    await once(child.stdout, 'data');
    client.destroy();
    child.kill('SIGUSR2');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  test('a response of the last turn that the kernel does not take at once is sent', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'http-life-'));
    context.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'socket');
    // More than the buffer of a Unix socket, less than what goes to the kernel at once, without a copy.
    const length = 300_000;
    const [child] = await run('last-turn.ts', path, `${length}`);
    const exited = once(child, 'exit');
    const client = connect({ path, allowHalfOpen: true });
    client.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    let received = 0;
    for await (const chunk of client) received += (chunk as Buffer).length;
    assert.ok(received > length, `${received}`);
    assert.deepEqual(await exited, [0, null]);
  });
});
