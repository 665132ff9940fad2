import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from '../../src/doctor/syntax/parse.ts';
import { growingNode, pointOf } from '../../src/heap/sites/growing-line.ts';

/** The code at the place that adds to one of the names. */
function growing(code: string, ...names: string[]): string | undefined {
  const found = growingNode(parse('app.ts', code)!, names);
  return found && code.slice(pointOf(found.node)).split(/[;\n]/)[0];
}

describe('the line that makes something grow', () => {
  for (const [what, code, names, expected] of [
    ['a list', 'const a = []; a.length; a.push(1);', ['a'], 'push(1)'],
    ['a private map', 'class A { #m = new Map(); b() { this.#m.set(1, 2); } }', ['m'], 'set(1, 2)'],
    [
      'a table',
      'app.locals.visits = {}; app.locals.visits[id] = 1;',
      ['visits'],
      'app.locals.visits[id] = 1',
    ],
    ['a linked list', 'let head = null; head = { next: head };', ['head'], 'head = { next: head }'],
    ['a list that is copied', 'let l = []; l = [...l, 1];', ['l'], 'l = [...l, 1]'],
    ['a text', "let log = ''; log += line;", ['log'], 'log += line'],
    ['an emitter', "bus.emit('x'); bus.on('x', f);", ['data', '_events', 'bus'], "on('x', f)"],
    ['a race', 'const a = await Promise.race([done, b()]);', ['done'], 'race([done, b()])'],
    [
      'a chain over lines',
      'bus\n  .setMaxListeners(0)\n  .once(f);bus\n  .on(f);',
      ['bus'],
      'on(f)',
    ],
    [
      'what is handed on',
      'fetch(url, { signal: stop.signal });',
      ['stop'],
      'fetch(url, { signal: stop.signal })',
    ],
  ] as const) {
    test(`of ${what}`, () => assert.equal(growing(code, ...names), expected));
  }

  test('is that of the innermost name, if several are added to', () => {
    const code = "server.on('x', f); seen.add(1);";
    assert.equal(growing(code, 'seen', 'server'), 'add(1)');
  });

  test('is undefined if a name is only read, emptied or given its first value', () => {
    assert.equal(growing('const a = new Map(); a.get(1); a.clear(); b = a.size;', 'a'), undefined);
    assert.equal(growing('let head = null; head = undefined;', 'head'), undefined);
  });
});
