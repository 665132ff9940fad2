import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { MeasuredVariant } from '../../src/bench/result.ts';
import { repository, treesLeft } from './ci-repository.ts';

describe('redline ci', () => {
  test('builds both revisions in trees of their own, and fails for the slower one, noise first', async (t) => {
    const bench = repository(t);
    const files = ['--json', 'r.json', '--md', 'r.md'];
    const { code, stdout, stderr } = await bench.run([
      'ci',
      '--base',
      'HEAD~1',
      '--restarts',
      '4',
      ...files,
    ]);
    assert.equal(code, 1, stderr);
    const { variants, baseline, limit } = bench.result('r.json');
    assert.match(baseline, /^HEAD~1 \([\da-f]{7}\)$/);
    assert.match(variants[1]!.name, /^(main|master) \([\da-f]{7}\)$/);
    assert.ok((variants[1] as MeasuredVariant).cpuRatio.high < 0.5);
    assert.deepEqual([limit!.share, limit!.variants[0]!.word], [0.03, 'slower']);
    assert.match(
      stdout,
      /\nThe base against itself: up to ± .*\n.* takes at least .* more CPU than the base/,
    );
    const markdown = bench.read('r.md');
    assert.ok(markdown.indexOf('The base against itself') < markdown.indexOf('takes at least'));
    assert.ok(markdown.indexOf('takes at least') < markdown.indexOf('| CPU'));
    // The user's own tree is as it was.
    assert.ok(!existsSync(join(bench.folder, 'built.cjs')));
    assert.deepEqual(treesLeft(bench), []);
    assert.equal(readdirSync(join(bench.folder, '.git')).includes('worktrees'), false);
  });

  test('installs a tree whose lock file differs by itself', async (t) => {
    const bench = repository(t);
    const lock = {
      name: 'x',
      lockfileVersion: 3,
      packages: {
        '': {},
        thing: { name: 'thing' },
        'node_modules/thing': { resolved: 'thing', link: true },
      },
    };
    bench.write(
      'package.json',
      JSON.stringify({
        scripts: { build: 'node build.cjs' },
        dependencies: { thing: 'file:thing' },
      }),
    );
    mkdirSync(join(bench.folder, 'thing'));
    bench.write('thing/package.json', '{"name":"thing"}');
    bench.write('thing/index.js', '');
    lock.packages[''] = { dependencies: { thing: 'file:thing' } };
    bench.write('package-lock.json', JSON.stringify(lock));
    bench.git('add', '.');
    bench.git('commit', '-m', 'three');
    bench.git('checkout', 'HEAD~1', '--', 'package-lock.json');
    bench.git('commit', '-m', 'four');
    const args = ['bench', '--base', 'HEAD~1', '--restarts', '1', '--blocks', '1'];
    const { code, stderr } = await bench.run(args);
    assert.equal(code, 0, stderr);
  });
});
