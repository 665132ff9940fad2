import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startPostgres } from '@redline/services';
import { callerText, summaryText } from '../../dist/calls-out/report/call-words.js';
import { lines, WatchedApp } from './watched-app.ts';

const { server, missing } = await startPostgres();
let app: WatchedApp;
after(() => server?.stop());

describe('what a request calls through pg', { skip: missing ?? false }, () => {
  before(async () => {
    app = await WatchedApp.start('orders.cjs', { POSTGRES_URL: server!.url });
  });
  after(() => app[Symbol.asyncDispose]());

  test('a query for each item, with the function and line that call', async () => {
    const { summary, requests } = await app.route('/user');
    assert.equal(requests.length, 6);
    assert.deepEqual(lines(summary), [
      'getUser: 1 × SELECT id, name FROM users WHERE id = $1 (one)',
      'findOrder: 10 × SELECT total FROM orders WHERE user_id = $1 (one after another)',
    ]);
    const [, orders] = summary!.callers;
    const [group] = orders!.groups;
    assert.equal(group!.distinct, 10);
    assert.deepEqual(
      group!.places.slice(0, 2).map(({ name, place }) => `${name} ${place.replace(/\d+$/, '')}`),
      ['findOrder orders.cjs:', 'attachOrders orders.cjs:'],
    );
    assert.match(
      callerText(orders!),
      /^10 queries, one after another, .*; the same statement with another user_id$/,
    );
    assert.match(summaryText(summary!), /11 queries, one after another/);
    assert.ok(summary!.waitMs.value + summary!.cpuMs.value <= summary!.ms.value);
  });

  test('queries that run together, in callbacks and in a transaction', async () => {
    const together = await app.route('/together');
    assert.deepEqual(lines(together.summary), [
      'getUser: 3 × SELECT id, name FROM users WHERE id = $1 (together)',
    ]);
    const { summary } = await app.route('/callbacks');
    assert.deepEqual(
      summary!.callers.flatMap(({ groups }) => groups.map(({ text }) => text)),
      ['SELECT name FROM users WHERE name = $1 OR id IN (…)', 'SELECT $1 + $2::int AS sum, $3'],
    );
    assert.equal(summary!.order, 'one after another');
    const transaction = await app.route('/transaction');
    assert.deepEqual(lines(transaction.summary).toSorted(), [
      'inTransaction: 1 × BEGIN (one)',
      'inTransaction: 1 × COMMIT (one)',
      'inTransaction: 1 × SELECT count(*)::int AS all FROM users (one)',
    ]);
  });

  test('errors, and queries by their events', async () => {
    const failing = await app.route('/failing');
    assert.equal(failing.body, '"42P01"');
    assert.equal(failing.summary!.callers[0]!.groups[0]!.failed, 1);
    const events = await app.route('/events');
    assert.deepEqual(
      events.summary!.callers.flatMap(({ groups }) => groups.map(({ text }) => text)),
      ['SELECT id FROM users'],
    );
  });

  test('no literal, comment or value leaves the process', async () => {
    for (const path of ['/user', '/callbacks', '/failing']) {
      const { requests } = await app.route(path);
      assert.doesNotMatch(JSON.stringify(requests), /secret/);
    }
  });
});
