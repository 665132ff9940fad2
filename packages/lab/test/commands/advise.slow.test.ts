import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { freePort } from '@redline/services';
import type { AdviseResult } from '../../src/advise/result.ts';
import { Workbench } from './run-cli.ts';

const files = ['--json', 'out.json', '--html', 'out.html'];

/** `hot` takes nearly all of the time, however slow the machine; `cold` next to none, and both do the same things. */
const app = `
var sink = 0;
function hot(list) {
  for (var i in list) sink += list[i].length;
  for (var j = 0; j < list.length; j++) sink += list[j].split('=')[1].length + (/[a-e]{3}/.test(list[j]) ? 1 : 0);
}
function cold(list) {
  for (var i in list) sink += list[i].length;
}
var list = [];
for (var n = 0; n < 200; n++) list.push('name=' + n);
cold(list);
for (var turn = 0; turn < 10000; turn++) hot(list);
`;

function profile(bench: Workbench, file: string): void {
  const args = ['--cpu-prof', '--cpu-prof-name=app.cpuprofile', '--cpu-prof-interval=200', file];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: bench.folder });
  assert.equal(status, 0, String(stderr));
}

describe('redline advise', () => {
  test('says how to get ESLint where there is none, and nothing else needs it', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'no-eslint.cjs',
      `const Module = require('node:module');
const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  if (/^eslint($|\\/)/.test(name)) throw new Error('Cannot find module ' + name);
  return resolve.call(this, name, ...rest);
};`,
    );
    const env = { NODE_OPTIONS: '--require=./no-eslint.cjs' };
    const { code, stderr } = await bench.run(['advise', '--profile', 'none.cpuprofile'], env);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /ESLint 9 or newer, which is not installed: npm install --save-dev eslint/,
    );
    assert.equal((await bench.run(['prove', '--help'], env)).code, 0);
  });

  test('shows hits where the time goes and nowhere else, with the gain', async (t) => {
    const bench = new Workbench(t);
    bench.write('app.js', app);
    profile(bench, 'app.js');
    const { code, stdout, stderr } = await bench.run([
      'advise',
      '--profile',
      'app.cpuprofile',
      '--node',
      '24',
      ...files,
    ]);
    assert.equal(code, 0, stderr);
    const { advice, leftOut } = JSON.parse(bench.read('out.json')) as AdviseResult;
    assert.deepEqual(
      advice.map(({ rule, function: name, line }) => [rule, name, line]),
      [
        ['no-for-in-array', 'hot', 4],
        ['no-split-for-pair', 'hot', 5],
      ],
    );
    for (const { share, gain } of advice) {
      assert.ok(share > 0.5 && share <= 1, `${share}`);
      assert.ok(gain.low > 1.3 && gain.low <= gain.value && gain.value <= gain.high);
    }
    assert.equal(advice[0]!.rewrite?.isSafe, false);
    assert.deepEqual(
      leftOut.map(({ rule }) => rule),
      ['hoist-regexp-literal'],
    );
    assert.match(stdout, /no-for-in-array[^]*hot +app\.js:4/);
    assert.match(stdout, /Left out[^]*hoist-regexp-literal/);
    assert.match(bench.read('out.html'), /Advice for app\.cpuprofile/);
  });

  test('leaves out what gains nothing on the Node that is named', async (t) => {
    const bench = new Workbench(t);
    bench.write('app.js', app.replace("split('=')[1].length +", 'length; parseInt(list[j], 10) +'));
    profile(bench, 'app.js');
    const rulesFor = async (node: string): Promise<string[]> => {
      const args = ['advise', '--profile', 'app.cpuprofile', '--node', node, ...files];
      const { code, stderr } = await bench.run(args);
      assert.equal(code, 0, stderr);
      const { advice } = JSON.parse(bench.read('out.json')) as AdviseResult;
      return advice.map(({ rule }) => rule);
    };
    assert.deepEqual(await rulesFor('10'), ['no-for-in-array', 'prefer-unary-plus']);
    assert.deepEqual(await rulesFor('24'), ['no-for-in-array']);
  });

  test('looks at the files that are named only', async (t) => {
    const bench = new Workbench(t);
    bench.write('app.js', app);
    bench.write('other.js', '');
    profile(bench, 'app.js');
    const { code, stdout } = await bench.run([
      'advise',
      '--profile',
      'app.cpuprofile',
      '--only',
      'other.js',
      '--md',
      'a.md',
    ]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /No rule that gains on Node .* is hit in a function with 1 % of the time or\s+more/,
    );
  });

  test('finds the lines of TypeScript that Node runs as it is', async (t) => {
    const bench = new Workbench(t);
    bench.write('app.ts', app.replace('function hot(list)', 'function hot(list: string[]): void'));
    profile(bench, 'app.ts');
    await bench.run(['advise', '--profile', 'app.cpuprofile', ...files]);
    const { advice } = JSON.parse(bench.read('out.json')) as AdviseResult;
    // More than one rule may pay on a line, by the Node that the profile is of.
    const lines = new Set(advice.map(({ file, line }) => `${file}:${line}`));
    assert.deepEqual([...lines], ['app.ts:4', 'app.ts:5']);
  });

  test('runs the load and profiles it when there is no profile', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'server.js',
      `${app.slice(0, app.indexOf('cold(list);'))}
require('http').createServer((req, res) => { for (var k = 0; k < 20; k++) hot(list); res.end('ok'); })
  .listen(process.env.PORT, '127.0.0.1');`,
    );
    const url = `http://127.0.0.1:${await freePort()}/`;
    const { code, stderr } = await bench.run([
      'advise',
      url,
      '--seconds',
      '1',
      '--warmup',
      '1',
      ...files,
      '--',
      process.execPath,
      'server.js',
    ]);
    assert.equal(code, 0, stderr);
    const { advice, title } = JSON.parse(bench.read('out.json')) as AdviseResult;
    assert.match(title, /server\.js$/);
    assert.ok(advice.some(({ rule }) => rule === 'no-for-in-array'));
  });

  const wrong: [what: string, args: string[], message: RegExp, code: number][] = [
    ['a profile that is not there', ['--profile', 'none'], /No such profile: \S*none/, 2],
    ['an empty profile', ['--profile', 'empty.cpuprofile'], /is empty: no sample/, 1],
    ['a profile that is none', ['--profile', 'a.txt'], /is not valid JSON/, 1],
    [
      'a file that is not there',
      ['--only', 'none.js', '--profile', 'a.txt'],
      /No such file or folder: none\.js/,
      2,
    ],
    [
      'a target beside a profile',
      ['src', '--profile', 'a.txt'],
      /"src" names what to put under load, .* use --only src/,
      2,
    ],
    [
      'a version that is none',
      ['--profile', 'empty.cpuprofile', '--node', 'x'],
      /--node is "x"/,
      2,
    ],
  ];
  for (const [what, args, message, expected] of wrong) {
    test(`says what is wrong with ${what}`, async (t) => {
      const bench = new Workbench(t);
      bench.write('empty.cpuprofile', '{"nodes":[],"samples":[]}');
      bench.write('a.txt', 'text');
      const { code, stderr } = await bench.run(['advise', ...args]);
      assert.match(stderr, message);
      assert.equal(code, expected);
    });
  }
});
