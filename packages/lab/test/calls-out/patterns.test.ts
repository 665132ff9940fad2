// cspell:ignore hunter hgetall evalsha Cwkn kqzt lrdqwhzxcv YWKQZTBLRD
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mongoShape, redisPattern, wordPattern } from '../../src/calls-out/preload/patterns.ts';

test('keys and paths keep their words, and nothing with a digit or of the length of an id', () => {
  for (const [text, pattern] of [
    ['user:42:cart', 'user:*:cart'],
    ['/v2/users/8f14e45f-ceea-467f-a9d6-9b1d4bbf4a71/orders', '/v2/users/*/orders'],
    ['/users/me@example.com', '/users/*.com'],
    ['session.abcdefghijklmnopqrstuvwxyzabcdef', 'session.*'],
    ['/a%20b/c', '/*/c'],
    ['/order-items/Import/user_sessions', '/order-items/Import/user_sessions'],
    // Tokens without a digit.
    ['session:VJqaNqOgQfDbLTCwknWHz', 'session:*'],
    ['reset:yWkQzTbLrd', 'reset:*'],
    ['reset:y-kqzt_lrdqwhzxcv', 'reset:*'],
    ['reset:YWKQZTBLRD', 'reset:*'],
    ['reset:_kqzt-', 'reset:*'],
  ] as const) {
    assert.equal(wordPattern(text), pattern, text);
  }
});

test('a long key or path is cut between its parts', () => {
  // The cut leaves letters of an id that has a digit further on.
  const start = 'carts:'.repeat(33);
  assert.equal(wordPattern(`${start}ab3f9c`), `${start}…`);
  assert.equal(wordPattern('a'.repeat(300)), '…');
});

test('a command of Redis has a key only where its first argument is one', () => {
  assert.equal(redisPattern('get', ['user:42']), 'GET user:*');
  assert.equal(redisPattern('MGET', ['user:1', 'user:2']), 'MGET user:*, …');
  assert.equal(redisPattern('hgetall', [Buffer.from('cart:7')]), 'HGETALL cart:*');
  for (const [name, ...args] of [
    ['auth', 'hunter'],
    ['hello', '3', 'auth', 'me', 'hunter'],
    ['config', 'set', 'requirepass', 'hunter'],
    ['evalsha', 'hunter', '0'],
    ['publish', 'channel', 'hunter'],
    ['select', '1'],
  ] as const) {
    assert.equal(redisPattern(name, args), name.toUpperCase());
  }
  assert.equal(redisPattern('evalsha_ro', ['hunter', '0']), 'EVALSHA_RO');
  assert.equal(redisPattern('token:4f2c', []), '*');
  assert.equal(redisPattern('abcdefghijklmnopqrstuvwxyz', []), '*');
});

test('a command of MongoDB keeps names and operators', () => {
  assert.equal(
    mongoShape({
      find: 'orders',
      filter: { userId: 'hunter', total: { $gt: 5 }, $or: [{ a: 1 }] },
    }),
    'find orders {userId: ?, total: {$gt: ?}, $or: [{a: ?}]}',
  );
  assert.equal(
    mongoShape({
      aggregate: 'orders',
      pipeline: [{ $match: { userId: 1 } }, { $group: { _id: 1 } }],
    }),
    'aggregate orders [$match {userId: ?}, $group]',
  );
  assert.equal(
    mongoShape({
      update: 'orders',
      updates: [{ q: { _id: { $in: [1, 2] } }, u: { $set: { a: 'hunter' } } }],
    }),
    'update orders {_id: {$in: […]}}',
  );
  assert.equal(
    mongoShape({
      find: 'carts',
      filter: {
        _id: 1,
        'items.64f1c0ffee64f1c0ffee64f1.unitPrice': 1,
        'owners.yWkQzTbLrd': 1,
        'lines.0.sku_code': 1,
        'me@example': 1,
        $hunter2: 1,
      },
    }),
    'find carts {_id: ?, items.*.unitPrice: ?, owners.*: ?, lines.*.sku_code: ?, *: ?, *: ?}',
  );
  assert.equal(mongoShape({ insert: 'orders', documents: [{ a: 'hunter' }] }), 'insert orders');
});
