import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Trace, TraceEntry } from '../../src/stairs/preload/protocol.ts';
import { findSpine } from '../../src/stairs/spine.ts';

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
    isBorder: false,
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

const namesOf = (traces: Trace[]): string[] => findSpine(traces).stages.map(({ name }) => name);

describe('the spine of a request', () => {
  test('is what is entered once, in order; the rest are counted where they happen', () => {
    const { stages } = findSpine([
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

  test('leaves out what not every request enters, or not in one order', () => {
    const one = trace(entry('a'), entry('b'), entry('c'), entry('d'));
    const other = trace(entry('a'), entry('c'), entry('b'));
    assert.deepEqual(namesOf([one, other]), ['a', 'b']);
    assert.deepEqual(namesOf([one, trace(entry('a', { count: 2 }), entry('b'))]), ['b']);
  });

  test('leaves out what runs once the answer has left, and names it', () => {
    const spine = findSpine([trace(entry('a'), entry('log', { afterAnswer: true }))]);
    assert.deepEqual(spine.afterAnswer, ['log']);
    assert.equal(spine.stages.length, 1);
  });

  test("makes one stage of a framework's call and the handler it calls", () => {
    const { stages } = findSpine([
      trace(
        entry('requestId', { id: 'middleware requestId', kind: 'middleware', place: '' }),
        entry('requestId', { isWrapped: true, isBorder: true }),
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

  test('guards what is asynchronous, what nobody of the app called, and what a framework called', () => {
    const { guards, followsAsync } = findSpine([
      trace(
        entry('root', { isRoot: true, isBorder: true }),
        entry('inner'),
        entry('later', { isAsync: true, isSameTurn: false }),
        entry('handler', { isBorder: true }),
        entry('callback', { isBorder: true, count: 3 }),
        entry('new Thing', { isConstructor: true, isRoot: true }),
      ),
    ]);
    assert.deepEqual(guards, ['root', 'later', 'handler']);
    assert.equal(followsAsync, true);
  });
});
