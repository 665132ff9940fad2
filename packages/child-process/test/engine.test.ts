import assert from 'node:assert/strict';
import * as node from 'node:child_process';
import nodeDefault from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';

const source = join(import.meta.dirname, '../src/index.ts');

function engineOf(env: NodeJS.ProcessEnv, flags: string[] = []): unknown {
  const code = `import(${JSON.stringify(source)}).then((m) => console.log(JSON.stringify([m.engine(), m.spawn === require('node:child_process').spawn])))`;
  const answer = node.execFileSync(process.execPath, ['--no-warnings', ...flags, '-e', code], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return JSON.parse(answer);
}

describe('the engine', () => {
  test('exports everything that node:child_process does', () => {
    const ours = new Map(Object.entries(redline));
    for (const [name, value] of Object.entries(node)) {
      if (name === 'default' || name === 'module.exports' || name.startsWith('_')) continue;
      assert.equal(typeof ours.get(name), typeof value, name);
    }
  });

  test('exports the same functions by default', () => {
    assert.deepEqual(Object.keys(redline.default), Object.keys(nodeDefault));
    assert.equal(redline.default.spawn, redline.spawn);
    assert.equal(redline.default.execFile, redline.execFile);
  });

  test("is Node's module when the environment asks for it, and says so", () => {
    assert.deepEqual(engineOf({ REDLINE_CHILD_PROCESS: 'node' }), [
      { name: 'node', reason: 'REDLINE_CHILD_PROCESS asks for it' },
      true,
    ]);
  });

  test("is Node's module under the permission model", () => {
    assert.deepEqual(engineOf({}, ['--permission', '--allow-fs-read=*', '--allow-child-process']), [
      { name: 'node', reason: "Node's permission model is on" },
      true,
    ]);
  });

  test('names itself', () => {
    const { name } = redline.engine();
    assert.match(name, /^(native|node)$/);
    if (name === 'node') assert.match((redline.engine() as { reason: string }).reason, /\w/);
  });
});
