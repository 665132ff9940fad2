import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { constants } from 'node:os';
import { describe, test } from 'node:test';
import { freePort } from '@redline/services';
import { engine, runThreads } from '../../src/index.ts';

const entry = new URL('entry.ts', import.meta.url);
const restartDelayMs = 1;

/** A namespace of its own for processes; a program in it is the first. */
const IN_NAMESPACE = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'];

function canBeFirst(): boolean {
  return spawnSync('unshare', [...IN_NAMESPACE, 'true']).status === 0;
}

describe('runThreads:', { timeout: 600_000 }, () => {
  test('several threads serve one port', async () => {
    const port = await freePort();
    await using threads = runThreads(2, entry, { workerData: { port } });
    await threads.started;
    const seen = new Set<string>();
    while (seen.size < 2) seen.add(await get(port, '/'));
    assert.equal(seen.size, 2);
  });

  test('a thread that dies starts again', async () => {
    const port = await freePort();
    await using threads = runThreads(1, entry, { workerData: { port }, restartDelayMs });
    await threads.started;
    const before = await get(port, '/');
    const exited = once(threads, 'exit');
    const startedAgain = once(threads, 'start');
    await get(port, '/die').catch(() => {});
    const [index, exitCode, error] = await exited;
    assert.deepEqual([index, exitCode, (error as Error).message], [0, 1, 'as asked']);
    await startedAgain;
    assert.notEqual(await get(port, '/'), before);
  });

  test('each further restart waits twice as long', async () => {
    const port = await freePort();
    await using threads = runThreads(1, entry, { workerData: { port }, restartDelayMs });
    await threads.started;
    const delays: number[] = [];
    threads.on('restart', (_, delayMs) => delays.push(delayMs));
    threads.on('exit', () => {});
    for (let death = 0; death < 3; death += 1) {
      const startedAgain = once(threads, 'start');
      await get(port, '/die').catch(() => {});
      await startedAgain;
    }
    assert.deepEqual(delays, [1, 2, 4]);
  });

  test('an entry that fails rejects `started`, and nothing is left running', async () => {
    const threads = runThreads(2, new URL('failing-entry.ts', import.meta.url));
    const stopped = once(threads, 'stopped');
    await assert.rejects(threads.started, {
      code: 'ERR_REDLINE_HTTP_THREAD_NOT_STARTED',
      message: /^Thread [01] did not start file:.*: This entry fails$/,
    });
    await stopped;
  });

  test('an entry has run, also if its thread has no work and exits at once', async () => {
    for (let times = 0; times < 6; times += 1) {
      await using threads = runThreads(4, new URL('data:text/javascript,'));
      await threads.started;
    }
  });

  test('stop() lets an answer that has begun end', async () => {
    const port = await freePort();
    const threads = runThreads(2, entry, { workerData: { port } });
    await threads.started;
    const { response, body } = await begin(port, '/slow');
    await once(response, 'readable');
    await threads.stop();
    assert.equal(await body, 'begun and ended');
    await assert.rejects(get(port, '/'), { code: 'ECONNREFUSED' });
  });

  test('stop() loses no request of clients that keep their connections', async () => {
    const port = await freePort();
    const threads = runThreads(2, entry, { workerData: { port } });
    await threads.started;
    let isStopping = false;
    const clients = Array.from({ length: 20 }, async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      for (;;) {
        const path = Math.random() < 0.5 ? '/' : '/later';
        const request = http.get({ port, path, host: '127.0.0.1', agent });
        const [response] = (await once(request, 'response')) as [http.IncomingMessage];
        response.resume();
        await once(response, 'end');
        if (response.headers.connection === 'close') break;
      }
      agent.destroy();
      return isStopping;
    });
    await get(port, '/later');
    isStopping = true;
    await threads.stop();
    assert.deepEqual(
      await Promise.all(clients),
      Array.from({ length: 20 }, () => true),
    );
  });

  test('SIGTERM ends the threads, then the process', async () => {
    const port = await freePort();
    const main = new URL('main.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [main, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const { response, body } = await begin(port, '/slow');
    await once(response, 'readable');
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    assert.equal(await body, 'begun and ended');
    assert.deepEqual(await exited, [null, 'SIGTERM']);
  });

  // The first process of a container has no default action for signals: raising it again ends nothing.
  test('SIGTERM ends it as process 1 too', { skip: !canBeFirst() }, async () => {
    const port = await freePort();
    const main = new URL('main.ts', import.meta.url).pathname;
    const child = spawn('unshare', [...IN_NAMESPACE, process.execPath, main, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const exited = once(child, 'exit');
    const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1');
    process.kill(Number(first.trim()), 'SIGTERM');
    assert.deepEqual(await exited, [128 + constants.signals.SIGTERM, null]);
  });

  test('what cannot be meant is refused', () => {
    for (const count of [0, -1, 1.5, Number.NaN]) {
      assert.throws(() => runThreads(count, entry), { code: 'ERR_REDLINE_HTTP_OPTION' });
    }
    assert.throws(() => runThreads(1, entry, { stopTimeoutMs: -1 }), {
      code: 'ERR_REDLINE_HTTP_OPTION',
      message: 'The option stopTimeoutMs must be 0 to 2147483647 milliseconds; got -1.',
    });
    assert.throws(() => runThreads(1, entry, { stopTimeout: 1 } as never), {
      code: 'ERR_REDLINE_HTTP_OPTION',
      message:
        /Unknown option "stopTimeout" of runThreads\. Known options: workerData, stopTimeoutMs, /,
    });
  });

  test('the threads have the engine of this thread', () => {
    assert.ok(['native', 'node'].includes(engine().name));
  });
});

async function get(port: number, path: string): Promise<string> {
  return await (
    await begin(port, path)
  ).body;
}

async function begin(
  port: number,
  path: string,
): Promise<{ response: http.IncomingMessage; body: Promise<string> }> {
  const request = http.get({ port, path, host: '127.0.0.1', agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const body = (async () => {
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return text;
  })();
  return { response, body };
}
