import assert from 'node:assert/strict';
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isMeasured } from '../../src/bench/result.ts';
import { receiptName, sha256Of } from '../../src/runtimes/cache.ts';
import { Workbench } from './run-cli.ts';

/** A cache that holds this very node under another version, and a program that is no runtime. */
async function fillCache(workbench: Workbench): Promise<string> {
  const cache = join(workbench.folder, 'cache');
  const broken = join(workbench.folder, 'broken.sh');
  writeFileSync(broken, '#!/bin/sh\necho "SyntaxError: Unexpected token import" >&2\nexit 1\n', {
    mode: 0o755,
  });
  for (const [name, file] of [
    ['node-90.1.0', process.execPath],
    ['node-91.2.0', process.execPath],
    ['bun-9.0.0', broken],
  ] as const) {
    const home = join(cache, 'runtimes', name);
    mkdirSync(home, { recursive: true });
    symlinkSync(file, join(home, 'program'));
    const receipt = {
      version: name.split('-')[1],
      program: 'program',
      integrity: 'none',
      bytes: statSync(file).size,
      sha256: await sha256Of(file),
    };
    writeFileSync(join(home, receiptName), JSON.stringify(receipt));
  }
  return cache;
}

describe('redline runtimes', () => {
  test('measures one app on each, and keeps a row for the one it does not run on', async (t) => {
    const workbench = new Workbench(t);
    const REDLINE_CACHE = await fillCache(workbench);
    workbench.writeConfig({ variants: [workbench.variant('app')] });
    const args = ['runtimes', '--only', '90,node@91.2,bun', '--json', 'r.json', '--html', 'r.html'];
    const { code, stdout, stderr } = await workbench.run(args, { REDLINE_CACHE });
    assert.equal(code, 0, stderr);
    const { variants, command, baseline } = workbench.result('r.json');
    assert.equal(command, 'ladder');
    assert.equal(baseline, 'node 90');
    assert.deepEqual(
      variants.map((each) => [each.name, each.note, isMeasured(each)]),
      [
        ['node 90', '90.1.0', true],
        ['node 91', '91.2.0', true],
        ['bun', '9.0.0', false],
      ],
    );
    assert.match(stdout, /bun.*skipped: it does not start: SyntaxError: Unexpected/);
    assert.deepEqual(workbench.survivors(), []);
  });

  test('names a runtime it cannot read, and an app it runs on none of', async (t) => {
    const workbench = new Workbench(t);
    const REDLINE_CACHE = await fillCache(workbench);
    workbench.writeConfig({ variants: [workbench.variant('app')] });
    const wrong = await workbench.run(['runtimes', '--only', 'ruby'], { REDLINE_CACHE });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /"ruby" is not a runtime; use e\.g\. node@24/);
    const none = await workbench.run(['runtimes', '--only', 'bun'], { REDLINE_CACHE });
    assert.equal(none.code, 1);
    assert.match(none.stderr, /runs on none of the runtimes; on bun: .*SyntaxError/);
  });
});
