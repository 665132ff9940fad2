import assert from 'node:assert/strict';
import * as nodes from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import * as redline from '../../src/index.ts';
import { settled } from './trace.ts';

for (const [name, { spawn }] of Object.entries({ nodes, redline })) {
  test(`a child that has closed has settled (${name})`, { timeout: 600_000 }, async () => {
    for (const program of ['true', 'redline-no-such-program']) {
      const child = spawn(program);
      child.on('error', () => {});
      await settled(child);
      await settled(child);
      assert.equal(child.listenerCount('close'), 0);
    }
    const other = spawn('true', { stdio: 'ignore' });
    await once(other, 'close');
    await settled(other);
  });
}
