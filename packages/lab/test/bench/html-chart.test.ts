import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderHtmlChart } from '../../src/bench/report/html-chart.ts';
import { failedControl, fixture, longNames } from '../report/fixture.ts';

describe('the ladder as a table for another page', () => {
  it('has every rung with its figures, and what was not measured', () => {
    const html = renderHtmlChart(fixture());
    for (const text of ['express 4', 'fastify 5 + schema', 'skipped: ']) {
      assert.ok(html.includes(text), text);
    }
    assert.match(html, /<b>\d+\.\d+\s*<\/b><span class="unit"> ×<\/span><small>\[/);
  });

  it('asks for nothing from elsewhere, and escapes names', () => {
    const html = renderHtmlChart(fixture({ rungs: longNames }));
    assert.doesNotMatch(html, /<script|<image|<foreignObject|@import|href/);
  });

  it('withholds the verdicts when the control reads changed', () => {
    const html = renderHtmlChart(fixture({ control: failedControl }));
    assert.equal(html.match(/class="v better"|class="v worse"/g)?.length ?? 0, 1);
    assert.match(html, /class="v withheld"/);
  });

  it('has no blank line, which would end it in Markdown', () => {
    assert.doesNotMatch(renderHtmlChart(fixture()), /\n\s*\n/);
  });
});
