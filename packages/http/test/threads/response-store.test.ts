import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { describe, test } from 'node:test';
import { freePort } from '@redline/services';
import { engine, runThreads, type ResponseStoreStats } from '../../src/index.ts';

const skip = engine().name === 'native' ? false : 'the addon is not built';
const entry = new URL('response-store-entry.ts', import.meta.url);

describe('threads of one port:', { skip, timeout: 600_000 }, () => {
  test('what one has kept all give, until any of them drops it', async () => {
    const port = await freePort();
    await using threads = runThreads(2, entry, { workerData: { port } });
    await threads.started;
    const [, by] = (await get(port, '/keep')).split(' ');
    // The kernel chooses whom a connection goes to.
    for (let i = 0; i < 40; i++) assert.equal(await get(port, '/kept'), `kept by ${by}`);
    const stats = JSON.parse(await get(port, '/stats')) as ResponseStoreStats;
    assert.deepEqual([stats.hits, stats.kept, stats.responses], [40, 1, 1]);
    for (let i = 0; i < 20; i++) {
      await get(port, '/drop');
      assert.match(await get(port, '/kept'), /^made by/);
      await get(port, '/keep');
      assert.match(await get(port, '/kept'), /^kept by/);
    }
  });

  test('when one dies the others no longer give what was kept', async () => {
    const port = await freePort();
    await using threads = runThreads(2, entry, { workerData: { port }, restartDelayMs: 1 });
    await threads.started;
    const seen = new Set<string>();
    while (seen.size < 2) seen.add(await get(port, '/'));
    const ended = once(threads, 'exit');
    await get(port, '/keep');
    assert.match(await get(port, '/kept'), /^kept by/);
    await get(port, '/die').catch(() => {});
    await ended;
    assert.match(await get(port, '/kept'), /^made by/);
  });
});

async function get(port: number, path: string): Promise<string> {
  for (;;) {
    try {
      const request = http.get({ port, path, host: '127.0.0.1', agent: false });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      return (await response.toArray()).join('');
    } catch (error) {
      // A connection may go to the thread that has just died.
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    }
  }
}
