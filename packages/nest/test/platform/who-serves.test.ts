import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';

import { engine, type Engine } from '@redline/nest';

interface Report {
  url: string;
  serving: Engine;
}

/** Starts an app, asks it once, and gives the lines of its log that say who serves. */
async function serve(orders: object, env: Record<string, string> = {}) {
  const child = fork(join(import.meta.dirname, 'fixture-server.js'), [JSON.stringify(orders)], {
    env: { ...process.env, ...env },
    silent: true,
  });
  let log = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (log += text));
  const ended = once(child, 'close');
  const failed = ended.then(() =>
    Promise.reject(new Error(`It ended before it listened:\n${log}`)),
  );
  failed.catch(() => {});
  const [{ url, serving }] = (await Promise.race([once(child, 'message'), failed])) as [Report];
  const answer: unknown = await (await fetch(`${url}/hello`)).json();
  child.send('end');
  await ended;
  const lines = stripVTControlCharacters(log).match(/\[RedlineFactory\] .*?(?= ?\+\d+ms|$)/gm);
  return { answer, serving, lines };
}

for (const adapter of ['fastify', 'express'] as const) {
  describe(`RedlineFactory says in the log who serves: ${adapter}`, () => {
    const here = engine();
    const served = serve({ adapter });

    it('the engine, or why not', async () => {
      assert.deepEqual(await served, {
        answer: { hello: 'world' },
        serving: here,
        lines: [
          here.name === 'native'
            ? '[RedlineFactory] HTTP is served by the native engine.'
            : `[RedlineFactory] HTTP is served by Node: ${here.reason}.`,
        ],
      });
    });

    it('Node, with REDLINE_HTTP=node', async () => {
      const reason = 'REDLINE_HTTP=node is set';
      assert.deepEqual(await serve({ adapter }, { REDLINE_HTTP: 'node' }), {
        answer: { hello: 'world' },
        serving: { name: 'node', reason },
        lines: [`[RedlineFactory] HTTP is served by Node: ${reason}.`],
      });
    });

    it('the same in a worker of node:cluster', async () => {
      assert.deepEqual(await serve({ adapter, cluster: true }), await served);
    });
  });
}
