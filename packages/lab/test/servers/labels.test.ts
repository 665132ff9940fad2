import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsOf } from '../../src/servers/contract.ts';

const of = (count: number): { method: string; path: string }[] =>
  Array.from({ length: count }, (_, index) => ({ method: 'GET', path: `/${index}` }));

test('a result names each request of a few, and the first of very many', () => {
  assert.deepEqual(labelsOf([...of(1), ...of(1)]), ['GET /0', 'GET /0']);
  assert.equal(labelsOf(of(20)).length, 20);
  const many = [...of(1_000), ...of(1_000)];
  assert.deepEqual(labelsOf(many), ['GET /0', 'GET /1', 'GET /2', '997 others']);
});
