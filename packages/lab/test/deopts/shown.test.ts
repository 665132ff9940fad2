import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { analyse } from '../../src/deopts/analyse.ts';
import { deoptsDocument } from '../../src/deopts/deopts-document.ts';
import type { DeoptsResult } from '../../src/deopts/result.ts';
import { renderPageOf } from '../../src/document/page.ts';
import { renderTerminal } from '../../src/document/terminal.ts';
import { SourceMaps } from '../../src/profile/source-maps.ts';
import { parseLogLine } from '../../src/profile/v8/v8-log.ts';

/** Each lost optimised code as often as it is said to. */
function deopted(functions: readonly { place: string; name: string; times: number }[]): string[] {
  return functions.flatMap(({ place, name, times }, index) =>
    Array.from({ length: times }, (_, time) => [
      `code-creation,JS,12,${100 * time + 10},0x${index}a${time},1,${name} ${place}:1:1,0x5${index},*`,
      `code-deopt,${100 * time + 50},1,0x${index}a${time},-1,5,deopt-eager,<${place}:2:9>,wrong map`,
    ]).flat(),
  );
}

function resultOf(lines: readonly string[]): DeoptsResult {
  return {
    schema: 1,
    command: 'deopts',
    scenario: 'app',
    title: 'app',
    variant: 'now',
    invocation: 'redline deopts',
    runId: 'abc123',
    redlineVersion: '0.1.0',
    startedAt: '2026-11-21T12:00:00.000Z',
    ...analyse({
      events: lines.map((line) => parseLogLine(line)!),
      maps: new SourceMaps(),
      folder: '/app',
    }),
    warnings: [],
  };
}

const core = Array.from({ length: 30 }, (_, index) => ({
  place: `node:internal/streams/${index}`,
  name: `ofNode${index}`,
  times: 5 + index,
}));
const own = ['pad', 'rank', 'render'].map((name, index) => ({
  place: `/app/${name}.js`,
  name,
  times: 1 + index,
}));
const result = resultOf(deopted([...core, ...own]));

describe('functions that are shown', () => {
  test("the app's own come first and all of them, however little time they have", () => {
    const [first, second, third, fourth] = result.functions;
    assert.deepEqual([first!.name, second!.name, third!.name], ['render', 'rank', 'pad']);
    assert.equal(fourth!.name, 'ofNode29');
    const text = renderTerminal(deoptsDocument(result, false), { unicode: true, colour: false });
    for (const { name } of own) assert.match(text, new RegExp(`^${name} `, 'm'));
    assert.ok(text.indexOf('pad.js') < text.indexOf('ofNode29'));
    assert.equal(text.match(/^ofNode/gm)!.length, 10);
    assert.match(text, /Not shown: 20 functions of packages, Node and V8/);
  });

  test('all are shown when asked for, on paper too', () => {
    const text = renderTerminal(deoptsDocument(result, true), { unicode: true, colour: false });
    assert.equal(text.match(/^ofNode/gm)!.length, 30);
    assert.doesNotMatch(text, /Not shown/);
    assert.match(renderPageOf(deoptsDocument(result, true)), /ofNode0</);
    assert.doesNotMatch(renderPageOf(deoptsDocument(result, false)), /ofNode0</);
  });
});
