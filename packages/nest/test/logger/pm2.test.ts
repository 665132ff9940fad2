import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';

it('lines reach PM2 in its cluster mode', async () => {
  const child = fork(join(import.meta.dirname, 'fixture-pm2.js'), { silent: true });
  const lines: string[] = [];
  child.on('message', (line) => lines.push(String(line)));
  await once(child, 'exit');
  const { context, msg } = JSON.parse(lines.find((line) => line.includes('reached')) ?? '{}') as {
    context?: string;
    msg?: string;
  };
  assert.deepEqual({ context, msg }, { context: 'Worker', msg: 'reached PM2' });
});
