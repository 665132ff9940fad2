import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usuallyAgree } from './agree.ts';

test('what varies on both agrees', () => {
  assert.ok(usuallyAgree([['a']], [['a']]));
  assert.ok(usuallyAgree(['a', 'b', 'a'], ['b', 'a', 'b']));
});

test('what Node never does is a difference', () => {
  assert.ok(!usuallyAgree(['a', 'a', 'a'], ['a', 'b', 'a']));
});

test('what Node does now and then does not excuse what the engine always does', () => {
  assert.ok(!usuallyAgree(['a', 'a', 'b'], ['b', 'b', 'b']));
  assert.ok(usuallyAgree(['a', 'a', 'b'], ['b', 'b', 'a']));
});
