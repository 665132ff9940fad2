import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { benchDocument } from '../../src/bench/report/bench-document.ts';
import { renderTerminal as renderDocument } from '../../src/document/terminal.ts';
import type { TerminalOptions } from '../../src/report/terminal-options.ts';
import type { BenchResult } from '../../src/bench/result.ts';
import { extremeRungs, failedControl, fixture, longNames, manyRungs } from '../report/fixture.ts';

function renderTerminal(result: BenchResult, options: TerminalOptions): string {
  return renderDocument(benchDocument(result), options);
}

const files = { html: 'redline-out/ladder-7f3a9c.html', json: 'redline-out/ladder-7f3a9c.json' };
const scenes: Record<string, BenchResult> = {
  ladder: fixture({
    warnings: [
      'The hypervisor took 6.1 % of the processor during restart 2, more than the two hundredths that are usual.',
    ],
  }),
  bench: fixture({ command: 'bench' }),
  'extreme ratios': fixture({ rungs: extremeRungs }),
  'long names': fixture({ rungs: longNames }),
  'forty variants': fixture({ rungs: manyRungs(40) }),
  'one variant': fixture({ rungs: manyRungs(1) }),
  'a failed control': fixture({ control: failedControl }),
  'a skipped control': fixture({ control: { skipped: 'its port was taken' } }),
};

const linesOf = (text: string): string[] => text.split('\n');

describe('the terminal report', () => {
  it('says at its head what this machine resolves, in how long', () => {
    const text = renderTerminal(fixture(), { colour: false, unicode: true, files });
    const [head] = text.split('\n\n');
    assert.match(
      head!.replaceAll(/\s+/g, ' '),
      /This machine resolves ± [\d.]+ % of CPU and ± [\d.]+ % of rps in 23 m/,
    );
    const without = renderTerminal(scenes['a skipped control']!, {
      colour: false,
      unicode: true,
      files,
    });
    assert.doesNotMatch(without, /resolves/);
  });

  for (const [name, result] of Object.entries(scenes)) {
    it(`fits ${name} into 80 columns`, () => {
      for (const unicode of [true, false]) {
        for (const line of linesOf(renderTerminal(result, { colour: false, unicode, files }))) {
          assert.ok([...line].length <= 80, `${[...line].length}: ${line}`);
          assert.equal(line, line.trimEnd());
        }
      }
    });

    it(`writes ${name} in ASCII alone when Unicode is off`, () => {
      assert.match(
        renderTerminal(result, { colour: false, unicode: false, files }),
        /^[\n\u0020-\u007e]*$/,
      );
    });

    it(`loses nothing of ${name} without colour`, () => {
      const plain = renderTerminal(result, { colour: false, unicode: true, files });
      const coloured = renderTerminal(result, { colour: true, unicode: true, files });
      assert.ok(!plain.includes('\u001b'));
      assert.equal(stripVTControlCharacters(coloured).replace(/ +$/gm, ''), plain);
    });
  }

  it('colours only marks and their words, blue for better and yellow for worse', () => {
    const text = renderTerminal(scenes['ladder'] as BenchResult, { colour: true, unicode: true });
    // oxlint-disable-next-line no-control-regex
    const painted = [...text.matchAll(/\u001b\[(\d+)m([^\u001b]*)\u001b\[39m/g)].map(
      ([, code, words]) => `${code} ${words?.trim()}`,
    );
    assert.deepEqual([...new Set(painted)].sort(), [
      '33 ▼',
      '33 ▼ changed',
      '34 ▲',
      '34 ▲ changed',
    ]);
  });

  it('keeps the columns of a table under each other', () => {
    const lines = linesOf(
      renderTerminal(scenes['ladder'] as BenchResult, { colour: false, unicode: true }),
    );
    const rows = lines.slice(lines.findIndex((line) => line.startsWith('CPU per request')) + 2);
    const table = rows.slice(0, rows.indexOf('')).filter((line) => !line.includes('skipped'));
    assert.equal(table.length, 11);
    const columnsOf = (pattern: RegExp): Set<number> =>
      new Set(table.flatMap((line) => line.match(pattern)?.index ?? []));
    assert.equal(columnsOf(/\[/).size, 1);
    assert.equal(columnsOf(/[▲▼=○] (?:changed|same|unresolved)/).size, 1);
    assert.equal(
      new Set(table.map((line) => line.match(/^.{24} *[\d ]*\.\d/)?.[0].length)).size,
      1,
    );
    assert.equal(new Set(table.map((line) => [...line].length)).size, 1);
  });

  it('draws the interval at its place on the axis', () => {
    const rungs = [
      { name: 'base' },
      { name: 'better', cpu: 1.5, rps: 1.5, spread: 0.1 },
      { name: 'open', cpu: 1, rps: 1, spread: 0.2 },
      { name: 'worse', cpu: 0.75, rps: 0.75, spread: 0.02 },
    ];
    const text = renderTerminal(fixture({ rungs }), { colour: false, unicode: true });
    assert.match(text, /^base +1\.00 +● +14 012$/m);
    assert.match(text, /^better +▲ +1\.50 +│ +├─*●─*┤ +\[1\.35, 1\.67\]/m);
    assert.match(text, /^open +○ +1\.00 +├─+○─+┤ +\[0\.82, 1\.22\]/m);
    const ascii = renderTerminal(fixture({ rungs }), { colour: false, unicode: false });
    assert.match(ascii, /^better +\^ +1\.50 +: +\|-*o-*\| +\[1\.35, 1\.67\]/m);
    assert.match(ascii, /^open +\? +1\.00 +\|-+\?-+\|/m);
  });

  it('cuts an unresolved whisker that leaves the axis and writes it whole', () => {
    const rungs = [{ name: 'base' }, { name: 'noise', cpu: 1, rps: 1, spread: 9 }];
    assert.match(
      renderTerminal(fixture({ rungs }), { colour: false, unicode: true }),
      /◂─+○─+▸ +\[0\.09, 10\.90\]/,
    );
  });

  it('keeps a skipped rung in its place in both tables', () => {
    const text = renderTerminal(scenes['ladder'] as BenchResult, { colour: false, unicode: true });
    assert.equal(
      text.match(
        /express 5[^\n]*\nexpress 4 on bun +– skipped: bun is not installed on this machine\nfastify 5/g,
      )?.length,
      2,
    );
  });

  it('says the warnings before the first figure and names the files last', () => {
    const text = renderTerminal(scenes['ladder'] as BenchResult, {
      colour: false,
      unicode: true,
      files,
    });
    assert.ok(text.indexOf('! The hypervisor took') < text.indexOf('requests per second'));
    assert.ok(
      text.endsWith(
        'report  redline-out/ladder-7f3a9c.html      data  redline-out/ladder-7f3a9c.json\n',
      ),
    );
  });

  it('puts long paths on lines of their own and cuts neither', () => {
    const long = { html: `${'a/'.repeat(40)}x.html`, json: `${'b/'.repeat(40)}x.json` };
    const text = renderTerminal(scenes['bench'] as BenchResult, {
      colour: false,
      unicode: true,
      files: long,
    });
    assert.ok(text.endsWith(`report  ${long.html}\ndata    ${long.json}\n`));
  });

  it('withholds the verdicts when the control reads changed', () => {
    const text = renderTerminal(scenes['a failed control'] as BenchResult, {
      colour: false,
      unicode: true,
    });
    assert.match(text, /! The base differs from itself\./);
    assert.equal(text.match(/▲|▼|○/g)?.length, 1);
  });
});
