import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const entry = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href);

/** Runs a program on Node's own module. */
async function onNode(program: string): Promise<{ stdout: string; stderr: string }> {
  const args = ['--input-type=module', '-e', `import * as redline from ${entry};\n${program}`];
  const env = { ...process.env, REDLINE_CHILD_PROCESS: 'node' };
  return promisify(execFile)(process.execPath, args, { env });
}

test('where Node serves, killTree ends the child and closes its pipes', async () => {
  const { stdout, stderr } = await onNode(`
    import { once } from 'node:events';
    const child = redline.spawn('sh', ['-c', "trap '' TERM; sleep 3 & echo; while :; do wait; sleep 0.1; done"]);
    await once(child.stdout, 'data');
    const closed = once(child, 'close');
    await redline.killTree(child, 'SIGTERM', { graceMs: 50 });
    console.log((await closed).join());`);
  assert.equal(stdout, ',SIGKILL\n');
  assert.match(stderr, /killTree needs the native engine/);
});
