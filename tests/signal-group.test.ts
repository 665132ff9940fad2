import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { signalGroup } from '@redline/services';

test('a group is signalled with its leader, after its leader, and never one whose number is used again', async () => {
  const leader = spawn('sh', ['-c', 'sleep 60 & echo; wait'], { detached: true });
  await once(leader.stdout, 'data');
  process.kill(leader.pid!, 'SIGKILL');
  await once(leader, 'exit');
  // The other member holds the pipe.
  signalGroup(leader, 'SIGKILL');
  await once(leader, 'close');

  const stranger = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const { pid } = stranger;
  signalGroup({ pid, exitCode: 0, signalCode: null } as ChildProcess, 'SIGKILL');
  stranger.kill('SIGTERM');
  assert.deepEqual(await once(stranger, 'exit'), [null, 'SIGTERM']);
});
