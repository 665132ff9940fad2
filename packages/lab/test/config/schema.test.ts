// cspell:ignore varients conections
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkConfig } from '../../src/config/schema.ts';
import { LabError } from '../../src/errors.ts';

const variant = { name: 'a', command: 'node a.js' };

describe('checkConfig', () => {
  test('takes a config with every key there is', () => {
    const config = {
      name: 'all',
      title: 'All',
      baseline: 'b',
      floor: 'b',
      variants: [
        variant,
        {
          name: 'b',
          note: 'n',
          beside: true,
          over: 'a',
          command: ['node'],
          cwd: '.',
          env: {},
          port: 3000,
          probe: '/p',
        },
        { name: 'c', command: 'c' },
      ].map((each) => ({ ...each, group: each.name === 'c' ? 'other' : 'first' })),
      groups: {
        first: {
          title: 'First',
          baseline: 'a',
          floor: 'b',
          requests: ['/'],
          load: { connections: 2 },
        },
        other: { precision: { blocks: 1 }, quick: { blocks: 1 } },
      },
      requests: ['/', { method: 'POST', path: '/x', headers: {}, body: '{}', compare: 'status' }],
      load: { connections: 10, openLoopRps: 100, pin: false },
      precision: { restarts: 1, blocks: 1, sliceMs: 100, warmupMs: 0, latencyMs: 100 },
      quick: { restarts: 1 },
      readyTimeoutMs: 1,
      setup: () => ({}),
      verify: () => {},
    };
    assert.deepEqual(checkConfig(config, 'c.ts'), config);
  });

  const mistakes: [what: string, config: unknown, message: string][] = [
    [
      'an unknown key',
      { name: 'x', varients: [], variants: [variant] },
      'c.ts: unknown key "varients".',
    ],
    [
      'a step over a variant that comes later',
      { name: 'x', variants: [variant, { ...variant, name: 'b', over: 'c' }] },
      'c.ts: over "c" of variant "b" is not one of the variants before it: a.',
    ],
    [
      'an unknown key further in',
      { name: 'x', variants: [variant], load: { conections: 1 } },
      'c.ts: unknown key "conections" in load.',
    ],
    ['a missing key', { name: 'x' }, 'c.ts: variants is missing.'],
    [
      'a wrong value, which it shows',
      { name: 'x', variants: [variant], load: { connections: 'many' } },
      'c.ts: load.connections is "many": expected number, received string.',
    ],
    [
      'a request without a path',
      { name: 'x', variants: [variant], requests: [{ method: 'POST' }] },
      'c.ts: requests[0].path is missing.',
    ],
    [
      'a misspelt key of a request',
      { name: 'x', variants: [variant], requests: [{ path: '/', header: {} }] },
      'c.ts: unknown key "header" in requests[0].',
    ],
    [
      'two variants of one name',
      { name: 'x', variants: [variant, variant] },
      'c.ts: two variants are named "a".',
    ],
    [
      'two variants on one port',
      {
        name: 'x',
        variants: [
          { ...variant, port: 80 },
          { name: 'b', command: 'b', port: 80 },
        ],
      },
      'c.ts: two variants have port 80, and all variants run at the same time.',
    ],
    [
      'a baseline that is no variant',
      { name: 'x', variants: [variant], baseline: 'b' },
      'c.ts: baseline "b" is not one of the variants a.',
    ],
    [
      'a floor that is no variant',
      { name: 'x', variants: [variant], floor: 'b' },
      'c.ts: floor "b" is not one of the variants a.',
    ],
    [
      'a variant without a group among grouped ones',
      { name: 'x', variants: [variant, { ...variant, name: 'b', group: 'g' }] },
      'c.ts: variant "a" has no group, but others do.',
    ],
    [
      'a group without variants',
      { name: 'x', variants: [variant], groups: { g: {} } },
      'c.ts: group "g" has no variants.',
    ],
    [
      'a baseline that is not in its group',
      {
        name: 'x',
        variants: [{ ...variant, group: 'g' }],
        groups: { g: { baseline: 'b' } },
      },
      'c.ts: baseline "b" of group "g" is not one of its variants a.',
    ],
    [
      'a floor that is not in its group',
      { name: 'x', variants: [{ ...variant, group: 'g' }], groups: { g: { floor: 'b' } } },
      'c.ts: floor "b" of group "g" is not one of its variants a.',
    ],
    [
      'something that is no object',
      3,
      'c.ts: the default export is 3: expected object, received number.',
    ],
    [
      'a setup that is no function',
      { name: 'x', variants: [variant], setup: 'redis' },
      'c.ts: setup is "redis": must be a function.',
    ],
  ];
  for (const [what, config, message] of mistakes) {
    test(`refuses ${what} in one sentence`, () => {
      assert.throws(
        () => checkConfig(config, 'c.ts'),
        (error) => {
          assert.ok(error instanceof LabError);
          assert.equal(error.code, 'ERR_REDLINE_CONFIG');
          assert.equal(error.message, message);
          return true;
        },
      );
    });
  }
});
