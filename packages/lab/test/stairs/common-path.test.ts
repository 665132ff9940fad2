import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Trace, TraceEntry } from '../../src/stairs/preload/protocol.ts';
import { findCommonPath } from '../../src/stairs/common-path.ts';

function entry(name: string, more: Partial<TraceEntry> = {}): TraceEntry {
  return {
    id: name,
    kind: 'function',
    name,
    place: `src/${name}.js:1`,
    isAsync: false,
    isConstructor: false,
    count: 1,
    isRoot: false,
    isCaught: false,
    isListener: false,
    isWrapped: false,
    afterAnswer: false,
    isBelowDependency: false,
    isSameTurn: true,
    ...more,
  };
}

function trace(...entries: TraceEntry[]): Trace {
  return { entries, frameworks: [], unreadable: [] };
}

const namesOf = (traces: Trace[]): string[] =>
  findCommonPath(traces).stages.map(({ name }) => name);

describe('the common path of traced requests', () => {
  test('is what is entered once, in order; the rest are counted where they happen', () => {
    const { stages } = findCommonPath([
      trace(entry('handle'), entry('parse'), entry('normalise', { count: 48 }), entry('render')),
    ]);
    assert.deepEqual(
      stages.map(({ name, calls }) => [name, calls]),
      [
        ['handle', []],
        ['parse', [{ name: 'normalise', count: 48 }]],
        ['render', []],
      ],
    );
  });

  test('goes on behind an await that is waited for once', () => {
    const resume = (name: string, count = 1): TraceEntry => entry(name, { kind: 'resume', count });
    assert.deepEqual(
      namesOf([
        trace(entry('a'), entry('b'), resume('b after await :3'), resume('a after await :9', 4)),
      ]),
      ['a', 'b', 'b after await :3'],
    );
  });

  test('leaves out what not every request enters, or not in one order', () => {
    const one = trace(entry('a'), entry('b'), entry('c'), entry('d'));
    const other = trace(entry('a'), entry('c'), entry('b'));
    assert.deepEqual(namesOf([one, other]), ['a', 'b']);
    assert.deepEqual(namesOf([one, trace(entry('a', { count: 2 }), entry('b'))]), ['b']);
  });

  test('counts what a bundle has of a package under its name, where it is called', () => {
    const orm = { package: 'sequelize' };
    const { stages, guards } = findCommonPath([
      trace(
        entry('getOrders'),
        entry('findAll', orm),
        entry('_injectScope', { ...orm, count: 3 }),
        entry('onData', { package: 'pg', isRoot: true }),
        entry('findAll after await :9', { ...orm, kind: 'resume' }),
        entry('present'),
      ),
    ]);
    assert.deepEqual(
      stages.map(({ name, calls }) => [name, calls]),
      [
        [
          'getOrders',
          [
            { name: 'sequelize', count: 4 },
            { name: 'pg', count: 1 },
          ],
        ],
        ['present', []],
      ],
    );
    // A request that ends below the driver is stopped there.
    assert.deepEqual(guards, ['onData']);
  });

  test('leaves out what runs once the answer has left, and names it', () => {
    const commonPath = findCommonPath([trace(entry('a'), entry('log', { afterAnswer: true }))]);
    assert.deepEqual(commonPath.afterAnswer, ['log']);
    assert.equal(commonPath.stages.length, 1);
  });

  test("makes one stage of a framework's call and the handler it calls", () => {
    const { stages } = findCommonPath([
      trace(
        entry('requestId', { id: 'middleware requestId', kind: 'middleware', place: '' }),
        entry('requestId', { isWrapped: true }),
        entry('route', { kind: 'handler', place: '' }),
      ),
    ]);
    assert.deepEqual(
      stages.map(({ name, kind, place }) => [name, kind, place]),
      [
        ['routing', 'routing', ''],
        ['requestId', 'middleware', 'src/requestId.js:1'],
        ['route', 'handler', ''],
      ],
    );
  });

  test('gives every stage a name of its own, and functions theirs', () => {
    const twice = [
      entry('find', { id: '1', kind: 'handler' }),
      entry('find', { id: '2' }),
      entry('limit', { id: '3', kind: 'hook' }),
      entry('limit', { id: '4', kind: 'hook' }),
    ];
    assert.deepEqual(namesOf([trace(...twice)]).slice(1), [
      'find (handler)',
      'find',
      'limit (hook)',
      'limit (hook) #2',
    ]);
  });

  test('guards what nobody of the app called and nothing of ours catches, and listeners whose promise is nobody’s', () => {
    const { guards, followsAsync } = findCommonPath([
      trace(
        entry('listener', { isAsync: true, isListener: true, isRoot: true, isCaught: true }),
        entry('inner'),
        entry('later', { isAsync: true, isSameTurn: false }),
        entry('handler', { isRoot: true, isCaught: true, isWrapped: true }),
        entry('callback', { isRoot: true, count: 3 }),
        entry('option', { isRoot: true, isCaught: true }),
        entry('new Thing', { isConstructor: true, isRoot: true }),
      ),
    ]);
    assert.deepEqual(guards, ['listener', 'callback']);
    assert.equal(followsAsync, true);
  });
});
