import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FreshIds, needsFreshId, withFreshId, withoutFreshId } from '../../src/load/fresh-ids.ts';

const request = {
  method: 'POST',
  path: '/orders/{{id}}',
  headers: { 'idempotency-key': '{{uuid}}' },
  body: '{"id":{{id}},"other":"{{name}}"}',
  compare: 'body',
  timed: true,
} as const;

describe('fresh ids', () => {
  test('are looked for in path, headers and body', () => {
    const plain = { ...request, path: '/', headers: {}, body: '{{name}}' };
    assert.equal(needsFreshId(plain), false);
    assert.equal(needsFreshId({ ...plain, path: '/{{id}}' }), true);
    assert.equal(needsFreshId({ ...plain, headers: { a: '{{uuid}}' } }), true);
    assert.equal(needsFreshId({ ...plain, body: '{{id}}' }), true);
  });

  test('are the same throughout a request, always as long, and never the same again', () => {
    const seen = new Set<string>();
    for (const ids of [new FreshIds(), new FreshIds()]) {
      for (let count = 0; count < 1_000; count++) {
        const fresh = ids.next();
        const { path, headers, body } = withFreshId(request, fresh);
        assert.match(fresh.id, /^[1-9]\d{15}$/);
        assert.ok(Number.isSafeInteger(Number(fresh.id)));
        assert.match(fresh.uuid, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/);
        assert.equal(path, `/orders/${fresh.id}`);
        assert.equal(headers['idempotency-key'], fresh.uuid);
        assert.equal(body, `{"id":${fresh.id},"other":"{{name}}"}`);
        seen.add(fresh.id).add(fresh.uuid);
      }
    }
    assert.equal(seen.size, 4_000);
  });

  test('are taken out of a response that repeats them', () => {
    const fresh = new FreshIds().next();
    const response = `{"id":${fresh.id},"key":"${fresh.uuid}"}`;
    assert.equal(withoutFreshId(response, fresh), '{"id":{{id}},"key":"{{uuid}}"}');
  });
});
