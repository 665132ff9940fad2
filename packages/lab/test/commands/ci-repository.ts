import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Workbench } from './run-cli.ts';

const config = {
  name: 'test',
  load: { connections: 8, turns: false },
  precision: { restarts: 2, blocks: 2, sliceMs: 100, warmupMs: 100, latencyMs: 100 },
  variants: [{ name: 'app', command: 'node app.cjs' }],
};

export function app(spinMs: number): string {
  return `const { answer } = require('./built.cjs');
  require('thing');
  require('node:http').createServer((request, response) => {
    const until = performance.now() + ${spinMs};
    while (performance.now() < until);
    response.end(answer);
  }).listen(process.env.PORT, process.env.HOST);`;
}

/** A repository of an app with a dependency and a build, and a commit that makes it slower. */
export function repository(context: TestContext): Workbench & { git(...args: string[]): void } {
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

/** Worktrees of the repository in the temporary folder, which tests of other repositories use at the same time. */
export function treesLeft({ folder }: Workbench): string[] {
  return globSync(join(tmpdir(), 'redline-trees-*/*/.git')).filter((file) => {
    try {
      return readFileSync(file, 'utf8').includes(folder);
    } catch {
      // Another test has removed it since.
      return false;
    }
  });
}
