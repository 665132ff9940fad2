import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { app, repository, treesLeft } from './ci-repository.ts';
import { Workbench } from './run-cli.ts';

describe('redline ci', () => {
  test('gives both trees the same files of dependencies where they lock the same', async (t) => {
    const bench = repository(t);
    const inode = statSync(join(bench.folder, 'node_modules/thing/index.js')).ino;
    const look = `node -e "require('fs').appendFileSync('${bench.folder}/looked', require('fs').statSync('node_modules/thing/index.js').ino + ' ' + require('fs').existsSync('node_modules/.cache') + '\\n'); require('./build.cjs')"`;
    const args = ['bench', '--base', 'HEAD', '--build', look, '--restarts', '1', '--blocks', '1'];
    const { code, stderr } = await bench.run(args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(bench.read('looked').trim().split('\n'), Array(2).fill(`${inode} false`));
  });

  test('ends before anything is measured where it cannot compare, and says why', async (t) => {
    const bench = repository(t);
    const cases: [args: string[], code: number, message: RegExp, change?: () => void][] = [
      [['ci'], 2, /"origin\/main" is not a revision .*git fetch origin main \(ERR_REDLINE_GIT\)/],
      [['bench', '--build', 'x'], 2, /--build "x" builds trees: name a --base/],
      [
        ['ci', '--base', 'HEAD~1', '--build', 'node -e "console.log(1);process.exit(4)"'],
        1,
        /The build of HEAD~1 \(.*\), "node -e .*" ended with exit code 4\..*\(ERR_REDLINE_COMMAND\)\n {2}1\n$/s,
      ],
      [
        ['ci', '--base', 'HEAD~1'],
        2,
        /app\.cjs changed since the last commit.*commit or stash first/,
        () => bench.write('app.cjs', app(9)),
      ],
    ];
    for (const [args, status, message, change] of cases) {
      change?.();
      const { code, stderr } = await bench.run(args, { GITHUB_BASE_REF: '' });
      assert.equal(code, status, stderr);
      assert.match(stderr, message);
    }
    assert.deepEqual(treesLeft(bench), []);
    const outside = await new Workbench(t).run(['ci', 'http://127.0.0.1:1/', '--', 'node', 'a.js']);
    assert.match(outside.stderr, /not a git repository.*\(ERR_REDLINE_GIT\)/);
  });
});
