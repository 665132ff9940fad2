import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Linter } from 'eslint';
import plugin, { dangerOf } from '../src/index.ts';

test('a super-linear expression is reported with its source, the text that attacks it, and the remedies', () => {
  const code = 'const is = (text) => /^(\\w+,?)+$/i.test(text);';
  const [message] = new Linter().verify(code, [
    { plugins: { '@redline': plugin }, rules: { '@redline/no-super-linear-regexp': 'error' } },
  ]);
  assert.equal(
    message?.message,
    '/^(\\w+,?)+$/i takes exponential time on "A" many times over, followed by what it does not match. Limit the length of the text before it, rewrite the expression so that a text has one way to match, or use RE2.',
  );
});

test('the danger of an expression has its growth, and the text to repeat', () => {
  assert.deepEqual(dangerOf('^(a|aa)+$', ''), { growth: 'exponential', repeated: 'aa' });
  assert.deepEqual(dangerOf('^\\d+\\d+$', ''), { growth: 'polynomial', repeated: '0' });
  assert.deepEqual(dangerOf('\\s+$', ''), {
    growth: 'polynomial',
    repeated: ' ',
    bySearching: true,
  });
  for (const [source, flags] of [
    ['^[\\p{L}--[a-z]]+$', 'v'],
    ['^\\p{L}+$', 'u'],
    ['^(?<year>\\d+)-\\k<year>$', ''],
    ['(', ''],
    ['a'.repeat(3_000), ''],
  ] as const) {
    assert.equal(dangerOf(source, flags), undefined, source);
  }
});
