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

test('where Node serves, each option says once that it needs the engine, and what happens instead', async () => {
  const { stdout, stderr } = await onNode(`
    const options = { killTree: true, dieWithParent: true, resourceUsage: true };
    for (let i = 0; i < 2; i++) redline.spawn('true', options);
    console.log(redline.spawnSync('echo', ['hi'], options).stdout.toString(), redline.reapOrphans());`);
  assert.equal(stdout, 'hi\n false\n');
  for (const option of ['killTree', 'dieWithParent', 'resourceUsage']) {
    const said = stderr.match(new RegExp(`${option} needs the native engine[^\\n]*`, 'g'));
    assert.equal(said?.length, 1, stderr);
    assert.match(said[0], /REDLINE_CHILD_PROCESS=node is set\. Instead, /);
  }
});

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

test('where Node serves, a wrong value is refused as well, and nothing is said without the options', async () => {
  const { stdout, stderr } = await onNode(`
    try {
      redline.spawn('true', { killTree: 'yes' });
    } catch (error) {
      console.log(error.code, error.message);
    }
    redline.spawn('true', { stdio: 'ignore' });`);
  assert.match(
    stdout,
    /^ERR_REDLINE_CHILD_PROCESS_OPTION The option killTree must be .* got "yes"\./,
  );
  assert.doesNotMatch(stderr, /RedlineWarning/);
});
