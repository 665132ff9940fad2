import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { renderSvg } from '../../src/bench/report/svg-chart.ts';
import type { BenchResult } from '../../src/bench/result.ts';
import { launch, skip } from '../report/chromium.ts';
import { extremeRungs, failedControl, fixture, longNames, manyRungs } from '../report/fixture.ts';

const scenes: Record<string, BenchResult> = {
  ladder: fixture(),
  'extreme ratios': fixture({ rungs: extremeRungs }),
  'long names': fixture({ rungs: longNames }),
  'forty variants': fixture({ rungs: manyRungs(40) }),
  'a failed control': fixture({ control: failedControl }),
};

describe('the picture of a ladder', () => {
  it('names every rung and keeps the text as text', () => {
    const svg = renderSvg(scenes['ladder'] as BenchResult);
    for (const name of ['express 4', 'fastify 5 + schema', 'not measured: bun is not installed'])
      assert.ok(svg.includes(name), name);
  });

  it('asks for nothing from elsewhere and runs nothing', () => {
    assert.doesNotMatch(
      renderSvg(scenes['long names'] as BenchResult),
      /<script|<image|<foreignObject|url\(|@import|href/,
    );
  });

  it('follows the viewer’s theme unless it is told one', () => {
    const result = scenes['ladder'] as BenchResult;
    assert.match(renderSvg(result), /prefers-color-scheme:dark/);
    assert.doesNotMatch(renderSvg(result, { theme: 'dark' }), /prefers-color-scheme/);
    assert.match(renderSvg(result, { theme: 'dark' }), /--bg:#131619/);
  });

  it('withholds the verdicts when the control reads changed', () => {
    const svg = renderSvg(scenes['a failed control'] as BenchResult);
    assert.equal(svg.match(/>▲</g)?.length, 1);
    assert.match(svg, />withheld</);
  });
});

describe('the picture of a ladder in a browser', { skip }, () => {
  let browser: Browser;
  let page: Page;
  before(async () => {
    browser = await launch();
    page = await browser.newPage();
  });
  after(() => browser?.close());

  for (const [name, result] of Object.entries(scenes)) {
    it(`is well-formed and keeps the texts of ${name} inside the picture and apart`, async () => {
      const problems = await page.evaluate((source) => {
        const parsed = new DOMParser().parseFromString(source, 'image/svg+xml');
        if (parsed.querySelector('parsererror')) return ['not well-formed'];
        document.body.innerHTML = source;
        const frame = document.querySelector('svg')!.getBoundingClientRect();
        const texts = [...document.querySelectorAll('svg text')].filter(
          (text) => text.textContent !== '',
        );
        const boxes = texts.map((text) => ({
          text: text.textContent,
          box: text.getBoundingClientRect(),
        }));
        const outside = boxes.filter(
          ({ box }) =>
            box.right > frame.right - 4 || box.bottom > frame.bottom || box.left < frame.left,
        );
        const overlapping = boxes.flatMap((one, index) =>
          boxes.slice(index + 1).flatMap((other) => {
            const wide =
              Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
            const high =
              Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
            return wide > 0 && high > 4 ? [`${one.text} / ${other.text}`] : [];
          }),
        );
        return [...outside.map(({ text }) => `outside: ${text}`), ...overlapping];
      }, renderSvg(result));
      assert.deepEqual(problems, []);
    });
  }
});
