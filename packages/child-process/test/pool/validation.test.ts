import assert from 'node:assert/strict';
import * as node from 'node:child_process';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../behaviour/trace.ts';
import { openPool } from './pools.ts';

const wrong: [what: string, options: Record<string, unknown>][] = [
  ['a negative timeout', { timeout: -1 }],
  ['a timeout that is text', { timeout: 'x' }],
  ['a timeout that is not whole', { timeout: 1.5 }],
  ['a signal that is none', { killSignal: 'SIGFOO' }],
  ['a signal that is none, with a timeout', { timeout: 50, killSignal: 'SIGFOO' }],
  ['a signal number that is none', { killSignal: 4711 }],
  ['an AbortSignal that is none', { signal: 'nope' }],
  ['a uid that is text', { uid: 'x' }],
  ['a gid that is not whole', { gid: 1.5 }],
  ['a shell that is a number', { shell: 5 }],
  ['argv0 that is a number', { argv0: 5 }],
  ['a folder with a NUL', { cwd: 'a\0b' }],
  ['an environment with a NUL', { env: { A: 'a\0b' } }],
  ['detached that is text', { detached: 'yes' }],
];

describe("a pool refuses with node:child_process's own error", () => {
  for (const [what, options] of wrong) {
    test(what, async (t) => {
      const pool = openPool(t, { size: 1 });
      assert.deepEqual(
        thrown(() => pool.spawn('true', [], options)),
        thrown(() => node.spawn('true', [], options)),
      );
      assert.deepEqual(
        thrown(() => pool.execFile('true', [], options, () => {})),
        thrown(() => node.execFile('true', [], options, () => {})),
      );
      // What is refused from a timer comes later.
      await sleep(100);
    });
  }

  for (const maxBuffer of [-1, 'x', Number.NaN]) {
    test(`maxBuffer ${maxBuffer}`, (t) => {
      const pool = openPool(t, { size: 1 });
      const options = { maxBuffer } as object;
      assert.deepEqual(
        thrown(() => pool.exec('true', options)),
        thrown(() => node.exec('true', options)),
      );
    });
  }

  test('a signal that kill() does not know', (t) => {
    const pool = openPool(t, { size: 1 });
    const ours = pool.spawn('sleep', ['10']);
    const nodes = node.spawn('sleep', ['10']);
    t.after(() => nodes.kill('SIGKILL'));
    for (const signal of ['SIGFOO', 4711]) {
      const code = (call: () => unknown) => (thrown(call) as { rest: { code: string } }).rest.code;
      assert.equal(
        code(() => ours.kill(signal as never)),
        code(() => nodes.kill(signal as never)),
      );
    }
  });
});

test('an abort ends a child of a pool with an AbortError of Node’s own class', async (t) => {
  const pool = openPool(t, { size: 1 });
  const errorOf = (start: typeof node.spawn) =>
    new Promise((resolve) => {
      const child = start('sleep', ['10'], { signal: AbortSignal.abort('why') });
      child.on('error', resolve);
    });
  const [ours, nodes] = [await errorOf(pool.spawn as never), await errorOf(node.spawn)];
  assert.deepEqual(describeError(ours), describeError(nodes));
});

function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return describeError(error);
  }
  return 'nothing';
}
