import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrame } from '../../src/profile/perf.ts';

const seen = (line: string): unknown => {
  const step = parseFrame(line);
  if (step === undefined || step === 'loop') return step;
  return [step.frame.name, step.frame.owner, step.tier];
};

test('perf names functions with the marks of V8, in old words and new', () => {
  assert.deepEqual(seen("  7fc90e08bfcd JS:+'handler /srv/app.js:46:24 (/tmp/perf-8916.map)"), [
    'handler',
    'app',
    'maglev',
  ]);
  assert.deepEqual(seen('  7fc9 LazyCompile:*emit events.js:1:2 (/tmp/perf-1.map)'), [
    'emit',
    'core',
    'turbofan',
  ]);
});

test('native code is told apart from the way into JavaScript and from the event loop', () => {
  const node = '(/usr/bin/node)';
  assert.deepEqual(seen(` 16 Builtins_StringAdd_CheckNone ${node}`), [
    'StringAdd_CheckNone',
    'v8',
    undefined,
  ]);
  assert.deepEqual(seen(` 16 node::StreamBase::Write(int) ${node}`), [
    'node::StreamBase::Write(int)',
    'core',
    undefined,
  ]);
  assert.deepEqual(seen(' ffff __schedule ([kernel.kallsyms])'), [
    '__schedule (kernel)',
    'core',
    undefined,
  ]);
  assert.equal(seen(` 16 Builtins_JSEntry ${node}`), undefined);
  assert.equal(seen(` 16 uv_run ${node}`), 'loop');
});

test('a regular expression is named by its source, as in a profile of V8', () => {
  assert.deepEqual(seen(" 7fc9 RegExp.< src: '^(a|b) (c)$' flags: 'i' (/tmp/perf-1.map)"), [
    'RegExp: ^(a|b) (c)$',
    'v8',
    undefined,
  ]);
});
