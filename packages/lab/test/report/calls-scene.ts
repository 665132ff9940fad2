import type { CallGroup, CallsSummary, CallTimes } from '../../src/calls-out/result.ts';

function times(waitMs: number, cpuMs: number): CallTimes {
  const around = (value: number): CallTimes['waitMs'] => ({
    value,
    low: value * 0.9,
    high: value * 1.1,
  });
  return { waitMs: around(waitMs), cpuMs: around(cpuMs) };
}

function group(change: Partial<CallGroup>): CallGroup {
  return {
    system: 'PostgreSQL',
    text: 'SELECT total FROM orders WHERE user_id = $1',
    places: [
      { name: 'findOrder', place: 'src/orders.js:12', column: 3 },
      { name: 'attachOrders', place: 'src/users.js:31', column: 20 },
    ],
    ...times(1.6, 0.21),
    count: 10,
    order: 'one after another',
    distinct: 10,
    share: 1,
    failed: 0,
    ...change,
  };
}

/** Calls of every kind, one with a statement that fits in no line. */
export const calls: CallsSummary = {
  requests: 40,
  ms: { value: 4.2, low: 4, high: 4.4 },
  ...times(3.1, 0.5),
  count: 13,
  order: 'mixed',
  callers: [
    {
      name: 'attachOrders',
      place: 'src/users.js:28',
      cut: 1,
      ...times(1.6, 0.21),
      count: 10,
      order: 'one after another',
      groups: [
        group({
          explained: { text: 'Seq Scan on orders, no index on user_id', isScan: true },
        }),
      ],
    },
    {
      name: 'AnIncrediblyLongNameOfAFunctionThatSomebodyHasWritten',
      place: 'packages/some-package/src/with/a/long/path/to/the/file.controller.ts:1234',
      cut: 2,
      ...times(1.5, 0.3),
      count: 3,
      order: 'together',
      groups: [
        group({
          text: `SELECT ${'"some_table"."some_column" AS "alias", '.repeat(12)}1 FROM <b>`,
          count: 1,
          distinct: 1,
          order: 'one',
          share: 0.4,
          failed: 0.1,
        }),
        group({ system: 'Redis', text: 'GET user:*|x', count: 2, distinct: 1, order: 'together' }),
      ],
    },
    {
      name: 'render',
      place: '',
      cut: 3,
      ...times(0, 0.05),
      count: 1,
      order: 'one',
      groups: [group({ system: 'SQLite', places: [], count: 1, order: 'one', ...times(0, 0.05) })],
    },
  ],
};
