import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Linter } from 'eslint';
import plugin from '../src/index.ts';

/** An array whose even places were never written. */
const withHoles = Object.assign(Array.from({ length: 0 }), { 1: 5, 3: 2 });

/** The body of a function of `given`, as a rule rewrites it, in place or as a suggestion; undefined where it does not. */
function rewritten(rule: string, body: string): string | undefined {
  const code = `function f(given) {\n${body}\n}`;
  const [message, ...others] = new Linter().verify(code, {
    plugins: { '@redline': plugin },
    rules: { [`@redline/${rule}`]: 'error' },
    languageOptions: { sourceType: 'script', ecmaVersion: 'latest' },
  });
  assert.deepEqual([message?.ruleId, others.length], [`@redline/${rule}`, 0], message?.message);
  const fix = message!.fix ?? message!.suggestions?.[0]?.fix;
  return fix && code.slice(0, fix.range[0]) + fix.text + code.slice(fix.range[1]);
}

/** Likewise with all suggestions taken over at once, as an editor does it. */
function allRewritten(rule: string, body: string): string {
  const code = `function f(given) {\n${body}\n}`;
  const messages = new Linter().verify(code, {
    plugins: { '@redline': plugin },
    rules: { [`@redline/${rule}`]: 'error' },
    languageOptions: { sourceType: 'script', ecmaVersion: 'latest' },
  });
  const fixes = messages.map((message) => message.suggestions![0]!.fix);
  assert.ok(fixes.length > 1);
  return fixes
    .toSorted((a, b) => b.range[0] - a.range[0])
    .reduce(
      (text, { range, text: by }) => text.slice(0, range[0]) + by + text.slice(range[1]),
      code,
    );
}

/** What a function returns or throws, with what it did to what it was given. */
function outcome(code: string, given: unknown): unknown {
  // oxlint-disable-next-line typescript/no-implied-eval -- the code under test is text
  const f = new Function(`return (${code})`)() as (given: unknown) => unknown;
  const own = structuredClone(given);
  try {
    return { returned: f(own), own };
  } catch (error) {
    return { threw: (error as Error).name, own };
  }
}

function keepsResults(rule: string, bodies: readonly string[], inputs: readonly unknown[]): void {
  describe(`${rule} is rewritten to what does the same`, () => {
    for (const body of bodies) {
      test(body, () => {
        const changed = rewritten(rule, body);
        assert.ok(changed !== undefined);
        for (const given of inputs) {
          const before = outcome(`function f(given) {\n${body}\n}`, given);
          assert.deepEqual(outcome(changed, given), before, `${changed}\n${String(given)}`);
        }
      });
    }
  });
}

keepsResults(
  'no-split-for-pair',
  [
    "const [a, b] = given.split('='); return [a, b];",
    "let [a, b] = given.split('=='); return [a, b];",
    "var [given, b] = given.split('='); return [given, b];",
    "const [a, b] = given.trim().split('='); return [a, b];",
    "const [a, b] = (0, given).split('='); return [a, b];",
    "var pair = given.split('='); return { name: pair[0], value: pair[1] || '' };",
    "const pair = given.split('='); return ((at) => { const second = 2; return pair[1]; })(3);",
    "const pair = given.split('='); return pair[1];",
  ],
  ['', '=', 'a', 'a=', '=b', 'a=b', 'a=b=c', 'a==b', 'a===b', '==', ' a = b ', 'a==b==c', 7, null],
);

describe('no-split-for-pair is rewritten to what does the same, all pairs at once', () => {
  const bodies = [
    "const [x, y] = given.split('='); const [p, q] = given.split(':'); return [x, y, p, q];",
    "const [x, y] = given.trim().split('='); const [p, q] = given.trim().split(':'); return [x, y, p, q];",
    "const [x, y] = given.split('='); { var [p, q] = given.split(':'); } return [x, y, p, q];",
    "if (given) { var [x, y] = given.split('='); } else { var [p, q] = given.split(':'); } return [x, y, p, q];",
    "const all = given.split('='); return ((t) => { const v = all[1]; const pair = t.split(':'); return [v, pair[0], pair[1]]; })(given);",
  ];
  for (const body of bodies) {
    test(body, () => {
      const changed = allRewritten('no-split-for-pair', body);
      for (const given of ['', 'a', 'a=b', 'a:b', 'a=b:c=d', ' a:b=c ', null]) {
        const before = outcome(`function f(given) {\n${body}\n}`, given);
        assert.deepEqual(outcome(changed, given), before, `${changed}\n${String(given)}`);
      }
    });
  }
});

const byPrice = 'function (a, b) { return a.price - b.price || a.id - b.id; }';

keepsResults(
  'no-sort-for-extremum',
  [
    'return given.slice().sort((a, b) => a - b)[0];',
    'return given.slice(0).sort((a, b) => b - a).at(0);',
    'return given.toSorted((a, b) => a - b).shift();',
    `return given.slice().sort(${byPrice})[0];`,
    `var least = 1; return [least, given.slice().sort(${byPrice})[0]];`,
    'return given.list.slice().sort((a, b) => a.price - b.price)[0];',
  ],
  [
    [],
    [1],
    [3, 1, 2],
    [3, Number.NaN, 1, 2],
    [Number.NaN],
    [2, undefined, 1],
    [undefined, undefined],
    withHoles,
    [null],
    [null, 3, -1],
    ['b', 'a', 'c'],
    ['10', '9', '1'],
    [3n, 1n, 2n],
    [Infinity, -Infinity, 0, Infinity],
    [0, -0, 0],
    [true, false],
    [
      { id: 2, price: 1, first: true },
      { id: 1, price: 1 },
      { id: 1, price: 1, last: true },
    ],
    [
      { id: 1, price: Number.NaN },
      { id: 0, price: 2 },
      { id: 5, price: 1 },
    ],
    [{ id: 1 }, { id: 0, price: 2 }],
    [
      { id: 1, price: '5' },
      { id: 0, price: '10' },
    ],
    [{ id: 1, price: 3 }, undefined, { id: 0, price: 2 }],
    [{ id: 1, price: 3 }, null, { id: 0, price: 2 }],
    new Float64Array([3, Number.NaN, 1]),
    { list: [{ price: 2 }, { price: 1 }] },
    'text',
    null,
  ],
);

keepsResults(
  'no-map-filter-chain',
  [
    'return [...given].filter((n) => n > 1).filter((n) => n < 9 || n === 20);',
    'const all = [].concat(given); return all.concat().filter((n) => n > 1).map((n) => n * 2);',
    'return [...given].map((n) => n && n * 2).filter((n) => n > 2);',
    'return [...given].map((n) => ({ n })).map((o) => o.n);',
    'return [1].concat(given).map((n) => ({ n })).filter((o) => o.n !== 2).map((n) => ({ n }));',
    'var found = 3; return Array.from(given).map(function (n) { var half = n / 2; return half; }).filter(function (n) { return n < found; });',
    'return Array.from(given).filter((n) => n.size > 1).map((n) => n.size);',
    'return [, 1, , 2].concat(given).map((n) => n * 2).map((n) => n + 1);',
    'return [, 1, , 2].concat(given).filter((n) => n !== 2).map((n) => [n]).filter((n) => n.length > 0);',
    'return [].concat(given || []).map((n) => n === undefined ? 0 : n).filter((n) => !n);',
  ],
  [
    [],
    [1, 2, 3, 20],
    withHoles,
    [undefined, null, 0, ''],
    ['a', 'b'],
    [{ size: 1 }, { size: 2 }],
    [null, { size: 1 }],
    [Number.NaN, -0],
    new Uint8Array([1, 2, 200]),
    null,
  ],
);
