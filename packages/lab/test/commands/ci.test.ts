import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { MeasuredVariant } from '../../src/bench/result.ts';
import { Workbench } from './run-cli.ts';

const config = {
  name: 'test',
  load: { connections: 8, turns: false },
  precision: { restarts: 2, blocks: 2, sliceMs: 100, warmupMs: 100, latencyMs: 100 },
  variants: [{ name: 'app', command: 'node app.cjs' }],
};

function app(spinMs: number): string {
  return `const { answer } = require('./built.cjs');
  require('thing');
  require('node:http').createServer((request, response) => {
    const until = performance.now() + ${spinMs};
    while (performance.now() < until);
    response.end(answer);
  }).listen(process.env.PORT, process.env.HOST);`;
}

/** A repository of an app with a dependency and a build, and a commit that makes it slower. */
function repository(context: TestContext): Workbench & { git(...args: string[]): void } {
  const bench = new Workbench(context);
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'];
    execFileSync('git', [...who, ...args], { cwd: bench.folder, stdio: 'ignore' });
  };
  mkdirSync(join(bench.folder, 'node_modules/thing'), { recursive: true });
  mkdirSync(join(bench.folder, 'node_modules/.cache'));
  bench.write('node_modules/thing/index.js', '');
  bench.write('node_modules/.cache/x', '');
  bench.write('.gitignore', 'node_modules\nbuilt.cjs\nredline-out\nr.*\npids\nlooked\n');
  bench.write('package-lock.json', '{}');
  bench.write('redline.config.mjs', `export default ${JSON.stringify(config)};`);
  const build = "require('fs').writeFileSync('built.cjs', 'exports.answer = \"ok\"')";
  bench.write('build.cjs', build);
  bench.write('package.json', JSON.stringify({ scripts: { build: 'node build.cjs' } }));
  bench.write('app.cjs', app(0));
  git('init');
  git('add', '.');
  git('commit', '-m', 'one');
  bench.write('app.cjs', app(3));
  git('commit', '-am', 'two');
  return Object.assign(bench, { git });
}

function treesLeft(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('redline-trees-'));
}

describe('redline ci', () => {
  test('builds both revisions in trees of their own, and fails for the slower one, noise first', async (t) => {
    const bench = repository(t);
    const before = treesLeft();
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
    assert.deepEqual(treesLeft(), before);
    assert.equal(readdirSync(join(bench.folder, '.git')).includes('worktrees'), false);
  });

  test('gives both trees the same files of dependencies where they lock the same', async (t) => {
    const bench = repository(t);
    const inode = statSync(join(bench.folder, 'node_modules/thing/index.js')).ino;
    const look = `node -e "require('fs').appendFileSync('${bench.folder}/looked', require('fs').statSync('node_modules/thing/index.js').ino + ' ' + require('fs').existsSync('node_modules/.cache') + '\\n'); require('./build.cjs')"`;
    const args = ['bench', '--base', 'HEAD', '--build', look, '--restarts', '1', '--blocks', '1'];
    const { code, stderr } = await bench.run(args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(bench.read('looked').trim().split('\n'), Array(2).fill(`${inode} false`));
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

  test('ends before anything is measured where it cannot compare, and says why', async (t) => {
    const bench = repository(t);
    const before = treesLeft();
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
    assert.deepEqual(treesLeft(), before);
    const outside = await new Workbench(t).run(['ci', 'http://127.0.0.1:1/', '--', 'node', 'a.js']);
    assert.match(outside.stderr, /not a git repository.*\(ERR_REDLINE_GIT\)/);
  });
});
