import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallGroup, CallsSummary } from '../../src/calls-out/result.ts';
import { withWaits } from '../../src/doctor/cost/waiting-calls.ts';
import type { Candidate } from '../../src/doctor/examine.ts';
import { costText } from '../../src/doctor/report/doctor-rows.ts';
import type { Finding } from '../../src/doctor/result.ts';

const point = (value: number): { value: number; low: number; high: number } => ({
  value,
  low: value,
  high: value,
});

function group(change: Partial<CallGroup>): CallGroup {
  return {
    system: 'PostgreSQL',
    text: 'SELECT total FROM orders WHERE user_id = $1',
    places: [
      { name: 'findOrder', place: 'orders.js:12', column: 3 },
      { name: 'attachOrders', place: 'users.js:31', column: 20 },
    ],
    waitMs: point(1.6),
    cpuMs: point(0.2),
    count: 10,
    order: 'one after another',
    distinct: 10,
    share: 1,
    failed: 0,
    ...change,
  };
}

function callsOf(...groups: CallGroup[]): CallsSummary {
  const { waitMs, cpuMs } = groups[0]!;
  const count = groups.reduce((sum, each) => sum + each.count, 0);
  const order = 'one after another';
  const caller = {
    name: 'show',
    place: 'users.js:30',
    waitMs,
    cpuMs,
    count,
    order,
    groups,
  } as const;
  return { requests: 40, ms: point(4), waitMs, cpuMs, count, order, callers: [caller] };
}

function inCode(rule: string, file: string, line: number): Candidate {
  const finding = { rule, title: '', file, line, column: 1, excerpt: '', sure: 'likely' } as const;
  return { finding: { ...finding, why: 'In code.', how: '', diff: 'a diff' }, edits: [] };
}

function findingsOf(candidates: readonly Candidate[], calls: CallsSummary): Finding[] {
  return withWaits(candidates, calls, import.meta.dirname).map(({ finding }) => finding);
}

test('a finding in the code has what requests were seen to wait for, at its line or in the function called there', () => {
  const [other, found, ...further] = findingsOf(
    [inCode('n-plus-one', 'users.js', 99), inCode('n-plus-one', 'users.js', 31)],
    callsOf(group({})),
  );
  assert.deepEqual(further, []);
  assert.equal(other!.waits, undefined);
  assert.equal(found!.diff, 'a diff');
  assert.equal(
    found!.why.replaceAll('\u00a0', ' '),
    'In code. Seen here: findOrder, orders.js:12, called by attachOrders, users.js:31: 10 queries, one after another, 1.6 ms and 0.20 ms of CPU; the same statement with another user_id: SELECT total FROM orders WHERE user_id = $1',
  );
  assert.deepEqual(found!.waits, {
    ms: 1.6,
    cpuMs: 0.2,
    share: 0.45,
    calls: 10,
    statement: 'SELECT total FROM orders WHERE user_id = $1',
  });
  assert.equal(costText(found!).replaceAll('\u00a0', ' '), 'waits 1.6 ms, 0.20 ms of CPU');
});

test('calls that no rule finds in the code are findings of their own', () => {
  const rulesOf = (...groups: CallGroup[]): string[] =>
    findingsOf([], callsOf(...groups)).map(({ rule, file, line }) => `${rule} ${file}:${line}`);
  assert.deepEqual(rulesOf(group({})), ['calls-for-each-item orders.js:12']);
  assert.deepEqual(rulesOf(group({ distinct: 1 })), ['same-call-again orders.js:12']);
  assert.deepEqual(rulesOf(group({ count: 2, distinct: 2 })), []);
  const once = { count: 1, distinct: 1, order: 'one' } as const;
  assert.deepEqual(rulesOf(group({ ...once })), ['long-call orders.js:12']);
  assert.deepEqual(rulesOf(group({ ...once, waitMs: point(0.1) })), []);
  const second = { ...once, text: 'SELECT 1', places: [{ name: 'a', place: 'a.js:5', column: 1 }] };
  assert.deepEqual(rulesOf(group(once), group(second)), ['calls-one-after-another a.js:5']);
  // A write may have to come first, and a call without a place in the app cannot be looked at.
  assert.deepEqual(
    rulesOf(
      group({ ...second, text: 'UPDATE a', waitMs: point(0.1) }),
      group({ ...second, waitMs: point(0.1) }),
    ),
    [],
  );
  assert.deepEqual(rulesOf(group({ places: [] })), []);
});
