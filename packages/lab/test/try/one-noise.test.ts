import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '../../src/document/markdown.ts';
import { renderPageOf } from '../../src/document/page.ts';
import { renderTryTerminal, tryDocument } from '../../src/try/report/try-document.ts';
import { tried } from '../report/scenes.ts';

test('a report of try has one figure for the noise of the machine, the one that decides the verdicts', () => {
  const result = tried({});
  const { precision, control } = result.bench;
  Object.assign(precision, { cpuBand: 0.07, rpsBand: 0.09 });
  // Its reach from 1 and half its width both differ from the bands.
  Object.assign(control, {
    cpuRatio: { value: 1.02, low: 0.97, high: 1.13 },
    rpsRatio: { value: 1.03, low: 0.95, high: 1.17 },
  });
  for (const report of [
    renderTryTerminal(result, { colour: false, unicode: true }),
    renderPageOf(tryDocument(result)),
    renderMarkdown(tryDocument(result)),
  ]) {
    const text = report.replaceAll(/<style>[^]*?<\/style>|<script>[^]*?<\/script>/g, '');
    const figures = new Set(
      text.match(/±[\s\u00a0]*\d[\d.]*[\s\u00a0]*%/g)!.map((each) => /[\d.]+/.exec(each)![0]),
    );
    // The margin of 2 % defines the word same in every run.
    figures.delete('2');
    figures.delete('2.0');
    assert.deepEqual(
      [...figures].map(Number).toSorted((a, b) => a - b),
      [7, 9],
      [...figures].join(),
    );
  }
});
