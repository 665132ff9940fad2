import { describe, test } from 'node:test';
import { engine } from '../src/index.ts';
import { alone, compare, leaves, methodsOf } from './replaced/matrix.ts';
import type { Replaced } from './replaced/worker.ts';

// Every method of the classes × before and after `register`. On subclasses and objects: replaced-objects.slow.test.ts.

const skip = engine().name === 'node' && 'the native engine does not serve here';

/** Its own ones, replaced where they are. */
const bases = [
  'http.OutgoingMessage',
  'net.Server',
  'stream.Readable',
  'stream.Writable',
  'stream.Duplex',
  'stream.Stream',
  'events.EventEmitter',
];

/** One method in so many: with \`before\` each group takes a thread of its own. */
function dealt(methods: Replaced, hands: number): Replaced[] {
  return Array.from({ length: hands }, (_, hand) =>
    methods.filter((__, at) => at % hands === hand),
  );
}

describe('every method that somebody replaces is called as on Node,', { skip }, () => {
  for (const owner of [...leaves, ...bases]) {
    const methods = methodsOf(owner, leaves.includes(owner));
    test(`after register, each alone: ${owner}`, () =>
      compare({
        order: 'after',
        place: 'prototype',
        how: 'define',
        framework: 'node:http',
        groups: alone(methods),
      }));
    for (const [at, group] of dealt(methods, 3).entries()) {
      test(`before register, many together: ${owner}, ${at + 1} of 3`, () =>
        compare({
          order: 'before',
          place: 'prototype',
          how: 'assign',
          framework: 'node:http',
          groups: [group],
        }));
    }
  }
});
