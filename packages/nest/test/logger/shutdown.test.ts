import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type Line, start } from './harness.js';

const FIXTURE = fileURLToPath(new URL('fixture-server.js', import.meta.url));

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
  /** Sends requests and waits for their answers. */
  ask(path: string, times?: number): Promise<void>;
  /** Waits for the end: what was logged, and how the process ended. */
  end(): Promise<{ lines: Line[]; code: number | null; signal: string | null }>;
}

async function run(
  orders: object = {},
  launcher: string[] = [],
  reading: Promise<unknown> = Promise.resolve(),
): Promise<Server> {
  const [command, ...args] = [...launcher, process.execPath, FIXTURE, JSON.stringify(orders)];
  const child = spawn(command as string, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = reading.then(() => text(child.stdout as NonNullable<typeof child.stdout>));
  child.stderr?.resume();
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  const url = `http://127.0.0.1:${port}`;
  return {
    child,
    url,
    ask: async (path, times = 1) => {
      for (let count = 0; count < times; count += 1) {
        await fetch(url + path).then(
          (response) => response.text(),
          () => '',
        );
      }
    },
    end: async () => {
      const watchdog = setTimeout(() => child.kill('SIGKILL'), 15_000);
      const [code, signal] = await ended;
      clearTimeout(watchdog);
      return { lines: parse(await output), code, signal };
    },
  };
}

const parse = (output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

const responses = (lines: Line[]): Line[] => lines.filter((line) => 'responseTime' in line);
const messages = (lines: Line[]): (string | undefined)[] => lines.map((line) => line.msg);

describe('the end of the process', () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`by ${signal} loses no line, and is by ${signal}`, async () => {
      const server = await run();
      await server.ask('/hello', 40);
      server.child.kill(signal);
      const end = await server.end();
      assert.deepEqual([end.code, end.signal], [null, signal]);
      assert.equal(responses(end.lines).length, 40);
    });
  }

  // What a container makes of the app; it takes a kernel and rights that not every machine gives.
  const asFirst = ['unshare', '--pid', '--fork', '--kill-child'];
  const canBeFirst = spawnSync(asFirst[0] as string, [...asFirst.slice(1), 'true']).status === 0;
  for (const hooks of [false, true]) {
    const how = hooks ? 'with' : 'without';
    it(
      `by SIGTERM as the first process of a container, ${how} shutdown hooks, is an end`,
      { skip: !canBeFirst },
      async () => {
        const server = await run({ hooks, options: { flushIntervalMs: 60_000 } }, asFirst);
        await server.ask('/hello', 5);
        await server.ask('/flood');
        const end = await server.end();
        assert.equal(end.code, hooks ? 0 : 143);
        assert.equal(responses(end.lines).length >= 5, true);
        assertFlood(end.lines);
      },
    );
  }

  it("by a signal with shutdown hooks is Nest's orderly shutdown, with every line of it", async () => {
    const server = await run({ hooks: true });
    await server.ask('/hello', 40);
    server.child.kill('SIGTERM');
    const end = await server.end();
    assert.deepEqual([end.code, end.signal], [null, 'SIGTERM']);
    assert.equal(responses(end.lines).length, 40);
    for (const message of ['destroying', 'destroyed', 'shut down']) {
      assert.ok(messages(end.lines).includes(message), message);
    }
    assert.equal(end.lines.at(-1)?.['signal'], 'SIGTERM');
  });

  it('by a signal with shutdown hooks and useProcessExit is an exit', async () => {
    const server = await run({ hooks: true, processExit: true });
    await server.ask('/hello', 3);
    server.child.kill('SIGTERM');
    const end = await server.end();
    assert.deepEqual([end.code, end.signal], [0, null]);
    assert.ok(messages(end.lines).includes('shut down'));
  });

  it('by a signal somebody else listens for is left to them', async () => {
    const server = await run({ listener: true });
    await server.ask('/hello', 3);
    server.child.kill('SIGTERM');
    const end = await server.end();
    assert.deepEqual([end.code, end.signal], [9, null]);
    assert.ok(messages(end.lines).includes('heard'));
    assert.equal(responses(end.lines).length, 3);
  });

  it('by a signal comes although signal-exit listens as well', async () => {
    const server = await run({ signalExit: true });
    await server.ask('/hello', 3);
    server.child.kill('SIGTERM');
    const end = await server.end();
    assert.deepEqual([end.code, end.signal], [null, 'SIGTERM']);
    assert.equal(responses(end.lines).length, 3);
  });

  it("by a signal with signals: false is Node's default, at once", async () => {
    const server = await run({ options: { signals: false } });
    server.child.kill('SIGTERM');
    const end = await server.end();
    assert.deepEqual([end.code, end.signal], [null, 'SIGTERM']);
  });

  it('by a signal waits for the write that is under way', async () => {
    const server = await run();
    await server.ask('/flood');
    const end = await server.end();
    assert.equal(end.signal, 'SIGTERM');
    assertFlood(end.lines);
  });

  it('by process.exit() loses no line', async () => {
    const server = await run();
    await server.ask('/hello', 5);
    await server.ask('/exit');
    const end = await server.end();
    assert.equal(end.code, 3);
    assert.equal(responses(end.lines).length, 5);
    assert.equal(messages(end.lines).filter((message) => message === 'last words').length, 500);
  });

  it('by process.exit() loses no line of a write that is under way', async () => {
    const server = await run();
    await server.ask('/flood-exit');
    assertFlood((await server.end()).lines);
  });

  it('by process.exit() mixes no lines of a write that its reader holds up with later ones', async () => {
    const { promise: reading, resolve: read } = Promise.withResolvers<void>();
    const server = await run({}, [], reading);
    const exiting = once(server.child, 'message');
    void server.ask('/flood-exit');
    await exiting;
    // Nothing says that the write waits for its reader by now.
    await sleep(100);
    read();
    assertFlood((await server.end()).lines);
  });

  it('by an uncaught exception loses no line', async () => {
    const server = await run();
    await server.ask('/crash');
    const end = await server.end();
    assert.equal(end.code, 1);
    assert.equal(messages(end.lines).filter((message) => message === 'last words').length, 500);
  });

  it('for want of anything to do loses no line, and no timer keeps it', async () => {
    const server = await run();
    await server.ask('/end');
    const end = await server.end();
    assert.equal(end.code, 0);
    assert.ok(messages(end.lines).includes('nothing left to do'));
  });
});

describe('a running server', () => {
  it('does not keep its last lines in the buffer', async () => {
    const server = await run({ options: { flushIntervalMs: 50 } });
    const seen = seenUntil('"url":"/hello"', server.child);
    await server.ask('/hello');
    assert.match(await seen, /"url":"\/hello"/);
    server.child.kill('SIGTERM');
    await server.end();
  });

  it('keeps no line that came while a slow reader held up a write', async () => {
    const options = { requests: 'off', flushIntervalMs: 10 } as const;
    const server = await run({ options }, [], new Promise(() => {}));
    await server.ask('/late');
    // The interval ends before the write does.
    await sleep(100);
    assert.match(await seenUntil('"late"', server.child), /"msg":"late"/);
    server.child.kill('SIGKILL');
  });

  it('writes to a file, in folders it makes, until the app is closed and after', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'redline-logger-'));
    const path = join(folder, 'logs', 'app.log');
    try {
      const server = await start({ destination: path });
      await fetch(`${server.url}/hello`);
      const { Deep } = await import('./fixture-app.js');
      const { logger } = server.app.get(Deep);
      await server.app.close();
      const closed = parse(await readFile(path, 'utf8'));
      assert.equal(responses(closed).length, 1);
      logger.info('after the end');
      assert.equal(parse(await readFile(path, 'utf8')).at(-1)?.msg, 'after the end');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('writes each line at once with bufferLength: 0', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'redline-logger-'));
    const path = join(folder, 'app.log');
    try {
      await using server = await start({ destination: path, bufferLength: 0 });
      const { Deep } = await import('./fixture-app.js');
      server.app.get(Deep).logger.info('now');
      assert.equal(parse(await readFile(path, 'utf8')).at(-1)?.msg, 'now');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('waits for a stream of its own when the app is closed', async () => {
    let written = '';
    const slow = new Writable({
      write(chunk, _encoding, done) {
        setTimeout(() => {
          written += String(chunk);
          done();
        }, 5);
      },
    });
    const server = await start({ destination: slow });
    for (let count = 0; count < 5; count += 1) await fetch(`${server.url}/hello`);
    await server.app.close();
    assert.equal(responses(parse(written)).length, 5);
  });

  it('can be closed although nobody reads its lines', async () => {
    const server = await start({ destination: new Writable({ write() {} }) });
    await fetch(`${server.url}/hello`);
    await server.app.close();
  });

  it('adds listeners to the process once, for however many apps, and takes them off', async () => {
    const count = (): number[] =>
      ['exit', 'SIGTERM', 'SIGINT', 'SIGHUP'].map((event) => process.listenerCount(event));
    const before = count();
    const servers = await Promise.all(Array.from({ length: 12 }, () => start()));
    assert.deepEqual(
      count(),
      before.map((listeners) => listeners + 1),
    );
    await Promise.all(servers.map((server) => server.app.close()));
    assert.deepEqual(count(), before);
  });
});

/** The last of what it has written, once `wanted` is in it, or all is read. */
function seenUntil(wanted: string, { stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let seen = '';
    stdout!.on('data', (chunk) => {
      seen = seen.slice(-1000) + String(chunk);
      if (seen.includes(wanted)) resolve(seen);
    });
    stdout!.on('end', () => resolve(seen));
  });
}

function assertFlood(lines: Line[]): void {
  const flood = lines.filter((line) => line.msg === 'flood');
  assert.deepEqual(
    flood.map((line) => line['count']),
    Array.from({ length: 20_000 }, (_, count) => count),
  );
}
