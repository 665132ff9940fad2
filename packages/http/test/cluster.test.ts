import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { engine } from '../src/index.ts';

const run = promisify(execFile);
const primary = new URL('cluster/primary.ts', import.meta.url).pathname;

/** On Node 22 a worker that has sent a socket away throws when it closes its server, so its exit cannot be compared. */
const faults: readonly string[] = process.versions.node.startsWith('22.')
  ? ['a worker that disconnects answers what it has begun']
  : [];

async function behavioursOf(http: 'node' | 'redline'): Promise<Map<string, unknown>> {
  const { stdout } = await run(process.execPath, ['--no-warnings', primary, http]);
  const lines = stdout.trim().split('\n');
  return new Map(lines.map((line) => JSON.parse(line) as [string, unknown]));
}

describe(
  'workers of node:cluster on the engine and on Node:',
  { skip: engine().name === 'node' },
  async () => {
    const [onNode, onEngine] = await Promise.all([behavioursOf('node'), behavioursOf('redline')]);

    test('each is what it is said to be', () => {
      assert.deepEqual([onNode.get('engines'), onEngine.get('engines')], [['node'], ['native']]);
      assert.deepEqual([...onNode.keys()], [...onEngine.keys()]);
    });

    for (const [name, seen] of onNode) {
      const skip = faults.includes(name) && 'Node 22 throws there: close() after a socket was sent';
      if (name !== 'engines')
        test(name, { skip }, () => assert.deepEqual(onEngine.get(name), seen));
    }
  },
);
