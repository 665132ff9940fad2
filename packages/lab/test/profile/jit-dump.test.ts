import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseBailout } from '../../src/profile/v8/code-trace.ts';
import { parseJitDump } from '../../src/profile/v8/jit-dump.ts';

const script = `
function tiny(a) {
  return a % 7;
}
function hot(n) {
  let total = 0;
  for (let i = 0; i < n; i++) total += tiny(i);
  return total;
}
// Told to optimise, V8 does it on this thread at the next call. Left to itself it compiles beside
// the program, and on a busy machine the program ends first.
for (const each of [tiny, hot]) %PrepareFunctionForOptimization(each);
for (let i = 0; i < 10; i++) hot(300);
%OptimizeFunctionOnNextCall(hot);
hot(300);
`;

describe('V8 dumps its code', { skip: process.platform !== 'linux' }, () => {
  let folder: string;
  let dump: Buffer;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'redline-dump-'));
    writeFileSync(join(folder, 'app.cjs'), script);
    const flags = ['--allow-natives-syntax', '--perf-prof', `--perf-prof-path=${folder}`];
    execFileSync(process.execPath, [...flags, 'app.cjs'], { cwd: folder });
    const name = readdirSync(folder).find((each) => each.endsWith('.dump'));
    dump = readFileSync(join(folder, name!));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  test('with tier, place and time of each function', () => {
    const codes = parseJitDump(dump).filter(({ place }) => place.url.endsWith('app.cjs'));
    const hot = codes.filter(({ name }) => name === 'hot');
    assert.deepEqual(hot[0]!.place, { url: join(folder, 'app.cjs'), line: 5, column: 13 });
    assert.equal(hot.at(-1)!.tier, 'turbofan');
    assert.ok(codes.every((code, index) => index === 0 || code.micros >= codes[index - 1]!.micros));
    assert.ok(codes.every(({ address, bytes }) => address > 0 && bytes > 0));
  });

  test('with the places of what was inlined', () => {
    const optimised = parseJitDump(dump).findLast(({ name }) => name === 'hot')!;
    const lines = new Set(optimised.positions.map(({ line }) => line));
    assert.ok(lines.has(3), `tiny() is not among the lines ${[...lines].join(', ')}`);
    assert.ok(optimised.positions.every(({ url }) => url.endsWith('app.cjs')));
  });

  test('and of a dump that breaks off, what is whole is read', () => {
    // The name of an inlined function's script may only be known from a later record; those of the
    // script itself come with the function.
    const read = (length: number) =>
      parseJitDump(dump.subarray(0, length)).map(({ positions, ...code }) =>
        code.place.url.endsWith('app.cjs') ? { ...code, positions } : code,
      );
    const all = read(dump.length);
    assert.ok(all.length > 0);
    const cuts = Array.from({ length: 60 }, (_, index) => Math.ceil((dump.length * index) / 60));
    const lengths = [...cuts, dump.length - 1, dump.length].map((cut) => {
      const some = read(cut);
      assert.deepEqual(some, all.slice(0, some.length), `of ${cut} bytes of ${dump.length}`);
      return some.length;
    });
    assert.equal(lengths[0], 0);
    assert.equal(lengths.at(-1), all.length);
    assert.deepEqual(
      lengths,
      lengths.toSorted((a, b) => a - b),
    );
    assert.deepEqual(parseJitDump(Buffer.from('no dump')), []);
    assert.deepEqual(parseJitDump(Buffer.alloc(0)), []);
  });
});

describe('V8 traces bailouts', () => {
  test('in one line each, with an address in the code', () => {
    const line =
      '[bailout (kind: deopt-eager, reason: Insufficient type feedback (x)): begin. deoptimizing 0x2de31645afb1 <JSFunction get (sfi = 0x1db928673389)>, 0x3a9c5bf2c1a9 <Code MAGLEV>, opt id 271, bytecode offset 4, deopt exit 0, FP to SP delta 48, caller SP 0x7ffe45492f88, pc 0x7f65e001b554]';
    assert.deepEqual(parseBailout(line, 12), {
      type: 'bailout',
      micros: 12,
      address: 0x7f65e001b554,
      kind: 'eager',
      reason: 'Insufficient type feedback (x)',
    });
    assert.equal(parseBailout('[marking dependent code 0x1]', 12), undefined);
  });
});
