import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ids } from '../src/intake/job-maker.ts';

test('ids are each once, and sort as they came within one length', () => {
  const ids = new Ids('m0a1-00ff00ff00');
  const made = Array.from({ length: 50_000 }, () => ids.next());
  assert.equal(new Set(made).size, made.length);
  for (const [at, id] of made.entries()) {
    assert.match(id, /^m0a1-00ff00ff00-[0-9a-z]{3,}$/);
    const before = made[at - 1];
    if (before?.length === id.length) assert.ok(before < id, `${before} ${id}`);
  }
});
