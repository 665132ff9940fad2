import { describe, test } from 'node:test';
import { engine } from '../src/index.ts';
import { frameworks } from './frameworks/frameworks.ts';
import { alone, compare, leaves, methodsOf, onShortWay, usual } from './replaced/matrix.ts';

const skip = engine().name === 'node' && 'the native engine does not serve here';

describe('every method that somebody replaces is called as on Node,', { skip }, () => {
  for (const place of ['subclass', 'instance'] as const) {
    for (const owner of leaves.slice(0, 3)) {
      test(`on the ${place}, each alone: ${owner}`, () =>
        compare({
          order: 'after',
          place,
          how: 'define',
          framework: 'node:http',
          groups: alone(methodsOf(owner, true)),
        }));
    }
  }

  for (const framework of Object.keys(frameworks)) {
    test(`after register, under ${framework}`, () =>
      compare({ order: 'after', place: 'prototype', how: 'assign', framework, groups: usual }));
    test(`before register, under ${framework}`, () =>
      compare({
        order: 'before',
        place: 'prototype',
        how: 'define',
        framework,
        groups: [onShortWay],
      }));
    test(`on objects, under ${framework}`, () =>
      compare({
        order: 'after',
        place: 'instance',
        how: 'assign',
        framework,
        groups: [onShortWay],
      }));
  }
});
