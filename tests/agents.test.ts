// What wrappers of node:http's methods see of frameworks, on Node and on the engine. The agents themselves: `npm run test:agents`.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { engine } from '@redline/http';
import { onNode, onRedline, orders, type Compared, type Flag } from './agents/compare.ts';

const skip = engine().name === 'node' && 'the native engine does not serve here';

const frameworks = [
  'node:http',
  'Express 5',
  'Fastify',
  'Koa',
  'Nest on Express',
  'Nest on Fastify',
];
const chosen: readonly (readonly [agent: string, flag: Flag])[] = [
  ['appdynamics-like', '--import'],
  ['dynatrace-like', '--require'],
];

describe('an agent that wraps methods of node:http sees the same as on Node,', { skip }, () => {
  for (const [agent, flag] of chosen) {
    test(`${agent}, with ${flag}`, async (t) => {
      const compared: Compared = { app: 'server', agent, frameworks, isComplete: () => true };
      const expected = await onNode(compared, flag);
      assert.ok(expected.trees.length > frameworks.length * 10);
      for (const order of orders) {
        await t.test(order, async () => {
          assert.deepEqual(await onRedline(compared, flag, order), expected);
        });
      }
    });
  }
});
