import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import type { PreloadSettings } from '../../src/stairs/preload/protocol.ts';
import { cutException, StairsState } from '../../src/stairs/preload/state.ts';
import { cutSource, type FunctionFacts, traceSource } from '../../src/stairs/preload/transform.ts';

const file = '/app/x.js';

function factsOf(source: string, isModule = false): FunctionFacts[] {
  const all: FunctionFacts[] = [];
  traceSource({ file, source, isModule }, (facts) => all.push(facts));
  return all;
}

/** Runs a source whose named functions are stages; `cutting` says whether requests end now. */
function runCut(
  source: string,
  { stages = [], guards = [] }: { stages?: string[]; guards?: string[] },
  cutting: boolean,
): unknown {
  const facts = factsOf(source);
  const idOf = (name: string): string => facts.find((each) => each.name === name)!.id;
  const numbers = Object.fromEntries(stages.map((name, index) => [idOf(name), index]));
  const S = cutException;
  const state = new StairsState({ stages: {} } as PreloadSettings);
  Object.assign(state, {
    k: cutting ? 0 : 100,
    S,
    cut: () => true,
    isOver: (e: unknown) => e === S,
  });
  const context = vm.createContext({ __redlineStairs: state, S });
  const code = cutSource({ file, source, isModule: false }, numbers, new Set(guards.map(idOf)));
  return vm.runInContext(code, context);
}

describe('rewriting the sources of an app', () => {
  test('names functions as JavaScript and their readers would', () => {
    const names = factsOf(`
      function plain() {}
      const arrow = () => 1;
      exports.feed = async () => {};
      class Guard { canActivate() {} #own = () => {}; static make() {} constructor() {} }
      const object = { method() {}, key: function () {}, get size() { return 1; } };
      list.map((item) => item);
      (function () {})();
      module.exports = { go: () => {} };
    `).map(({ name }) => name);
    assert.deepEqual(names, [
      'plain',
      'arrow',
      'feed',
      'Guard.canActivate',
      'Guard.#own',
      'Guard.make',
      'new Guard',
      'method',
      'key',
      'size',
      'list.map(…)',
      '<anonymous>',
      'go',
    ]);
  });

  test('takes no getter of an export for a function of the request', () => {
    const names = factsOf(`
      __export(prices_exports, { priceOf: () => priceOf });
      Object.defineProperty(exports, 'listOf', { enumerable: true, get: function () { return list_1.listOf; } });
      Object.defineProperty(o, k2, { enumerable: true, get: function() { return m[k]; } });
      __webpack_require__.d(__webpack_exports__, { "a": () => (/* binding */ b) });
      configure({ price: () => priceOf(), rate: (it) => it, name() { return this.name; } });
      const own = { size: () => size };
    `).map(({ name }) => name);
    assert.deepEqual(names, ['price', 'rate', 'name', 'size']);
  });

  test('leaves generators alone, and knows what is asynchronous', () => {
    const facts = factsOf('function* g() {} async function a() {} const b = async () => 1;');
    assert.deepEqual(
      facts.map(({ name, isAsync }) => [name, isAsync]),
      [
        ['a', true],
        ['b', true],
      ],
    );
  });

  test('changes nothing while no request is cut', () => {
    const source = `
      'use strict'
      const twice = (x) => ({ value: x * 2 });
      const nested = (a) => (b) => a + b // the end
      function sum(list, start = 0) { return list.reduce((all, x) => all + x, start) }
      function isStrict() { 'use strict'; return this === undefined }
      class A { constructor(x) { this.x = x } }
      class B extends A { constructor(x) { super(x); this.y = 1 } get both() { return this.x + this.y } }
      function caught() { try { null.x } catch { return 'caught' } }
      function taken() { try { throw { message: 'm' } } catch ({ message }) { return message } }
      JSON.stringify([twice(2), nested(1)(2), sum([1, 2]), isStrict(), new B(3).both, caught(), taken()]);
    `;
    const all = ['twice', 'nested', 'sum', 'isStrict', 'new A', 'new B', 'caught', 'taken'];
    const expected = vm.runInNewContext(source);
    assert.equal(runCut(source, {}, false), expected);
    assert.equal(runCut(source, { stages: all }, false), expected);
    assert.equal(runCut(source, { stages: all, guards: all }, false), expected);
  });

  test('a synchronous stage unwinds to the guard below it', () => {
    const source = `
      const seen = [];
      function outer() { seen.push('in'); inner(); seen.push('out'); return 'done' }
      function inner() { seen.push('inner') }
      const result = outer();
      JSON.stringify([seen, typeof result]);
    `;
    const asked = { stages: ['inner'], guards: ['outer'] };
    assert.equal(runCut(source, asked, true), '[["in"],"object"]');
    assert.equal(runCut(source, asked, false), '[["in","inner","out"],"string"]');
  });

  test("the app's own catch does not take an ended request for a failure", () => {
    for (const clause of ['catch (error) {', 'catch {', 'catch ({ message }) {']) {
      const source = `
        function outer() { try { inner() } ${clause} return 'failed' } }
        function inner() {}
        let got; try { outer() } catch (error) { got = error }
        got === S;
      `;
      // The last catch is the test's own, so it is not rewritten to let S through: it is called from outside.
      const wrapped = source.replace(
        'catch (error) { got = error }\n        got',
        'finally {}\n        got',
      );
      assert.throws(() => runCut(wrapped, { stages: ['inner'] }, true), cutException);
    }
  });

  test('what was opened is closed when an asynchronous stage, or what it calls, ends the request', async () => {
    const source = `
      const log = [];
      async function outer() { try { await null; inner(); log.push('after') } catch { log.push('failed') } finally { log.push('closed') } }
      function inner() {}
      async function stage() { log.push('stage') }
      const caller = async () => { try { await stage() } finally { log.push('released') } };
      Promise.all([outer(), caller()].map((each) => each.catch((error) => log.push('handled'))).map((each) => each.then(() => log.push('settled'), () => log.push('taken')))).catch(() => {});
      log;
    `;
    const log = runCut(source, { stages: ['inner', 'stage'] }, true) as string[];
    await new Promise((resolve) => setImmediate(resolve));
    // oxlint-disable-next-line unicorn/no-array-sort
    assert.deepEqual([...log].sort(), ['closed', 'released']);
  });

  test('a request ends where a function goes on behind an await', async () => {
    const source = `
      const log = [];
      const pick = async (x) => x;
      async function work() { log.push('begun'); const a = await pick(1)
        log.push(a + await pick(await pick(2))); return log }
      work().then((all) => all.push('done'), () => log.push('left'));
      log;
    `;
    const run = async (names: string[], cutting: boolean): Promise<string[]> => {
      const log = runCut(source, { stages: names }, cutting) as string[];
      await new Promise((resolve) => setImmediate(resolve));
      return [...log];
    };
    const names = factsOf(source)
      .filter(({ isResume }) => isResume)
      .map(({ name }) => name);
    assert.deepEqual(names, ['work after await :4', 'work after await :5', 'work after await :5']);
    assert.deepEqual(await run(['work', ...names], false), ['begun', 3, 'done']);
    assert.deepEqual(await run(['work after await :4'], true), ['begun']);
  });

  test('what an await opens is in the hands of the try behind it before the request ends', async () => {
    const source = `
      const log = [];
      async function work() {
        const client = await Promise.resolve('client');
        try { log.push('used'); } finally { log.push('released ' + client); }
      }
      work().catch(() => {});
      log;
    `;
    const log = runCut(source, { stages: ['work after await :4'] }, true) as string[];
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([...log], ['released client']);
  });

  test('the last handler of a chain of promises leaves an ended request alone', async () => {
    const source = `
      const log = [];
      async function stage() {}
      const next = (error) => log.push(String(error));
      stage().catch(next);
      stage().then(() => log.push('went on'), (error) => { log.push('failed'); });
      log;
    `;
    const log = runCut(source, { stages: ['stage'] }, true) as string[];
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(log.length, 0);
  });

  test('a source that is no JavaScript is a SyntaxError', () => {
    assert.throws(() => factsOf('const type: string = 1'), SyntaxError);
  });
});
