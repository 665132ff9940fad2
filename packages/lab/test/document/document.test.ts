import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  detail,
  type Document,
  estimate,
  figure,
  items,
  name,
  notes,
  plot,
  source,
  table,
  words,
} from '../../src/document/document.ts';
import { renderMarkdown } from '../../src/document/markdown.ts';
import { renderPageOf } from '../../src/document/page.ts';
import { renderTerminal } from '../../src/document/terminal.ts';
import { code, say, strong, verdict } from '../../src/document/text.ts';
import { logAxis } from '../../src/report/axis.ts';
import { run } from '../report/scenes.ts';

interface Row {
  what: string;
  gain?: { value: number; low: number; high: number };
}

const rows: Row[] = [
  { what: 'a_name|of <b>', gain: { value: 2, low: 1.5, high: 2.5 } },
  { what: 'none' },
];

const document: Document = {
  ...run,
  label: 'TEST',
  title: 'A result',
  aside: '2 rows',
  about: ['on a machine', undefined],
  facts: [['Machine', 'a machine'], false],
  warnings: ['Something was noticed.'],
  findings: [{ word: verdict('better'), text: say`${strong('a')} gains ${2} times.` }],
  sections: [
    {
      id: 'rows',
      heading: 'Rows',
      label: 'ROWS',
      parts: [
        table<Row>(
          rows,
          [
            name('what', ({ what }) => code(what)),
            plot(
              'gain (log)',
              logAxis([1, 3]),
              ({ what, gain }) =>
                gain && { title: what, text: '', estimate: { ...gain, reading: 'better' } },
            ),
            estimate(
              'gain',
              ({ gain }) =>
                gain && {
                  value: gain.value.toFixed(1),
                  pad: '',
                  range: `[${gain.low}, ${gain.high}]`,
                },
            ),
            words('verdict', ({ gain }) => gain && verdict('better')),
            figure('rarely read', ({ gain }) => gain && '12', { isOptional: true }),
            detail('line', ({ what }) => code(`call(${what})`), { isCode: true }),
          ],
          { skipped: ({ gain }) => (gain ? undefined : 'it did not start') },
        ),
        items([{ title: 'a finding', aside: 'likely', lines: [source('x = 1'), false] }]),
        notes(['for the terminal'], ['terminal']),
      ],
    },
  ],
  method: ['It was measured.', ''],
  next: 'redline prove a',
};

const terminal = (width: number, colour = false): string =>
  renderTerminal(document, { width, colour, unicode: true });

describe('a document', () => {
  test('says the same in every medium', () => {
    const page = renderPageOf(document).replaceAll(/<(style|script)>[^]*?<\/\1>|<[^>]+>/g, ' ');
    for (const text of [terminal(100), renderMarkdown(document), page]) {
      for (const expected of [
        /A result/,
        /2 rows|a machine/,
        /Something was noticed/,
        /2\.0\b/,
        /\[1\.5, 2\.5\]/,
        /changed/,
        /it did not start/,
        /a finding/,
        /x = 1/,
        /redline prove a/,
      ])
        assert.match(text, expected);
    }
  });

  test('shows a part only in the media that it names', () => {
    assert.match(terminal(100), /^for the terminal$/m);
    assert.doesNotMatch(renderMarkdown(document) + renderPageOf(document), /for the terminal/);
  });

  test('draws a plot between a figure and its interval, and details below the row', () => {
    assert.match(
      terminal(100),
      /^a_name\|of <b> +2\.0 +[│├─●┤ ]+ +\[1\.5, 2\.5\] +▲ changed +12\n {4}call\(a_name\|of <b>\)$/m,
    );
  });

  test('of a narrow terminal gives up what is optional, then what the figures say too', () => {
    assert.doesNotMatch(terminal(60), /rarely read/);
    for (const width of [60, 70, 80]) assert.match(terminal(width), /2\.0 .*\[1\.5, 2\.5\] +▲/);
  });

  test('says why a row has no figures', () => {
    assert.match(terminal(100), /^none +– skipped: it did not start$/m);
    assert.match(
      renderMarkdown(document),
      /^\| `none` \| – \| – \| – \| not measured: it did not start \|$/m,
    );
  });

  test('colours a mark and its word alone', () => {
    // oxlint-disable-next-line no-control-regex
    const painted = [...terminal(100, true).matchAll(/\u001b\[34m([^\u001b]*)\u001b\[39m/g)];
    assert.deepEqual(
      painted.map(([, marked]) => marked),
      ['▲ changed'],
    );
  });

  test('escapes what comes from outside', () => {
    assert.match(renderMarkdown(document), /^\| `a_name\\\|of <b>` \|/m);
    assert.doesNotMatch(renderPageOf(document), /of <b>/);
  });
});
