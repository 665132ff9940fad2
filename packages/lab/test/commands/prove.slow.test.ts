import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Evidence } from '@redline/eslint-plugin';
import type { ProveResult } from '../../src/prove/result.ts';
import { Workbench } from './run-cli.ts';

const smallest = ['--restarts', '2', '--blocks', '2', '--json', 'out.json', '--html', 'out.html'];

/** Any real machine tells these two apart. */
const proof = `'use strict';

// before
exports.before = function sum(numbers) {
  let total = 0;
  for (let round = 0; round < 50; round++) total = numbers.reduce((all, n) => all + n, 0);
  return total;
};

// after
exports.after = function sum(numbers) {
  return numbers.reduce((all, n) => all + n, 0);
};

// inputs
exports.inputs = () => [[1, 2, 3], [4, 5, 6]];
`;

describe('redline prove', () => {
  test('times both sides and writes figures, raw blocks, report and evidence', async (t) => {
    const bench = new Workbench(t);
    bench.write('idea.cjs', proof);
    const { code, stdout, stderr } = await bench.run(['prove', './idea.cjs', ...smallest]);
    assert.equal(code, 0, stderr);
    const result = JSON.parse(bench.read('out.json')) as ProveResult;
    const [rule] = result.rules;
    const [runtime] = rule!.runtimes;
    assert.ok(runtime && !('skipped' in runtime));
    assert.equal(runtime.node, process.versions.node);
    assert.equal(runtime.timer, 'own loop');
    assert.equal(runtime.slices.length, 2 * 2 * 2);
    // Which word it is depends on the machine: two restarts are hardly enough for one.
    const { value, low, high } = runtime.ratio;
    assert.ok(low <= value && value <= high, `${low} ${value} ${high}`);
    const word = low > 1.3 ? 'changed' : high < 1.3 && low > 1 / 1.3 ? 'same' : runtime.verdict;
    assert.equal(runtime.verdict, word);
    assert.match(stdout, new RegExp(`idea[^]*${word}`));
    assert.match(bench.read('out.html'), /What idea gains/);
    const evidence = JSON.parse(bench.read('redline-out/evidence/idea.json')) as Evidence;
    assert.match(evidence.before, /^function sum[^]*}$/);
    assert.doesNotMatch(evidence.before, /exports/);
    assert.equal(evidence.measurements.length, 1);
  });

  test('keeps the evidence with a proof that has a folder of its own', async (t) => {
    const bench = new Workbench(t);
    mkdirSync(join(bench.folder, 'my-idea'));
    bench.write('my-idea/proof.cjs', proof);
    const args = ['prove', './my-idea/proof.cjs', '--beside-proof', ...smallest];
    const { code, stdout, stderr } = await bench.run(args);
    assert.equal(code, 0, stderr);
    const evidence = JSON.parse(bench.read('my-idea/evidence.json')) as Evidence;
    assert.equal(evidence.rule, 'my-idea');
    assert.match(stdout, /evidence +beside each proof/);
  });

  test('drops what was measured of other code', async (t) => {
    const bench = new Workbench(t);
    bench.write('idea.cjs', proof);
    await bench.run(['prove', './idea.cjs', ...smallest]);
    const file = 'redline-out/evidence/idea.json';
    const evidence = JSON.parse(bench.read(file)) as Evidence;
    const older = { ...evidence.measurements[0]!, node: '1.0.0' };
    bench.write(file, JSON.stringify({ ...evidence, measurements: [older] }));
    await bench.run(['prove', './idea.cjs', ...smallest]);
    const same = JSON.parse(bench.read(file)) as Evidence;
    assert.deepEqual(
      same.measurements.map(({ node }) => node),
      ['1.0.0', process.versions.node],
    );
    bench.write('idea.cjs', proof.replace('< 50', '< 60'));
    await bench.run(['prove', './idea.cjs', ...smallest]);
    const other = JSON.parse(bench.read(file)) as Evidence;
    assert.deepEqual(
      other.measurements.map(({ node }) => node),
      [process.versions.node],
    );
  });

  test('refuses sides that give different results, and names the input', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'idea.cjs',
      proof.replace('all + n, 0);\n};\n\n// inputs', 'all + n, 1);\n};\n\n// inputs'),
    );
    const { code, stderr } = await bench.run(['prove', './idea.cjs', ...smallest]);
    assert.equal(code, 1);
    assert.match(stderr, /idea: the two sides differ: input 0 gives 7 after and 6 before/);
  });

  test('times them all the same when they are meant to differ', async (t) => {
    const bench = new Workbench(t);
    const differing = proof.replace(
      'all + n, 0);\n};\n\n// inputs',
      'all + n, 1);\n};\n\n// inputs',
    );
    bench.write('idea.cjs', `${differing}\nexports.changesResult = 'one more';\n`);
    const { code, stdout, stderr } = await bench.run(['prove', './idea.cjs', ...smallest]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /idea, changes the result/);
  });

  const wrong: [what: string, args: string[], file: string, message: RegExp, code: number][] = [
    ['an unknown rule', ['no-such-rule'], '', /Unknown rule "no-such-rule"\. The rules are/, 2],
    ['no rule', [], '', /Name a rule, or say --all/, 2],
    ['rules and --all', ['no-delete', '--all'], '', /not both/, 2],
    [
      'a runtime that is no Node',
      ['no-delete', '--runtimes', 'bun'],
      '',
      /only Node versions are valid/,
      2,
    ],
    ['a Node that is too old', ['no-delete', '--runtimes', '6'], '', /Node 8 or newer/, 2],
    ['a proof without a side', ['./a.cjs'], 'exports.before = () => 1;', /no function "after"/, 1],
    ['a proof that does not load', ['./a.cjs'], 'syntax error', /could not be loaded/, 1],
    [
      'a side that throws',
      ['./a.cjs'],
      'exports.before = exports.after = () => { throw new Error("no way"); }; exports.inputs = () => [1];',
      /no way/,
      1,
    ],
  ];
  for (const [what, args, file, message, expected] of wrong) {
    test(`says what is wrong with ${what}`, async (t) => {
      const bench = new Workbench(t);
      bench.write('a.cjs', file);
      const { code, stderr } = await bench.run(['prove', ...args]);
      assert.match(stderr, message);
      assert.equal(code, expected);
    });
  }
});
