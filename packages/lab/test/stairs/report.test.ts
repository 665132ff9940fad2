import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { renderPageOf } from '../../src/document/page.ts';
import { renderTerminal } from '../../src/document/terminal.ts';
import type { TerminalOptions } from '../../src/report/terminal-options.ts';
import { checkBudget } from '../../src/stairs/budget.ts';
import { stairsDocument } from '../../src/stairs/report/stairs-document.ts';
import type { StairsResult } from '../../src/stairs/result.ts';
import { predict } from '../../src/stairs/what-if.ts';
import { launch, skip } from '../report/chromium.ts';
import { stairsFixture } from './fixture.ts';

const plain = { colour: false, unicode: true, files: { html: 'a.html', json: 'a.json' } };

function renderStairsTerminal(result: StairsResult, options: TerminalOptions): string {
  return renderTerminal(stairsDocument(result), options);
}

function renderStairsHtml(result: StairsResult): string {
  return renderPageOf(stairsDocument(result));
}

function everything(): ReturnType<typeof stairsFixture> {
  const result = stairsFixture({ warnings: ['Something was noticed.'] });
  result.whatIf = predict(result, [{ stage: 'verifyToken', to: '0' }]);
  result.budget = checkBudget(
    result,
    { schema: 1, unit: 'µs', stages: { verifyToken: 2 } },
    'b.json',
  );
  return result;
}

describe('the stairs in a terminal', () => {
  test('fit 80 columns and say every figure', () => {
    const text = renderStairsTerminal(everything(), plain);
    for (const line of text.split('\n')) assert.ok([...line].length <= 80, line);
    for (const expected of [
      /^STAIRS {3}catalog, GET \/feed/m,
      /verifyToken .* 6\.0 +\[5\.7, 6\.3\] .*changed/,
      /rateLimit .*= same/,
      /banners .*−0\.4.*○ unresolved/,
      /whole request +60\.2/,
      /selectItems .* 1 021 +21\.0 /,
      /whole request .* 1 100 +25\.0 /,
      /A request allocates 1 100 kB,\s+most\s+of\s+the app’s in selectItems \(1 021 kB\)/,
      /legacy was not cut: reached by 40 %/,
      /selectItems includes rank, price/,
      /If verifyToken cost 0 µs: 54\.2 µs/,
      /Over budget: verifyToken/,
      /! Something was noticed/,
      /report {2}a\.html/,
    ]) {
      assert.match(text, expected);
    }
  });

  test('are plain ASCII where that is all there is', () => {
    const text = renderStairsTerminal(everything(), { ...plain, unicode: false });
    // oxlint-disable-next-line no-control-regex
    assert.match(text, /^[\u0000-\u007f]*$/);
  });

  test('tell apart stages whose names begin alike', () => {
    const result = stairsFixture();
    const names = [
      'UsersController.create',
      'UsersController.find',
      'UsersController.remove',
      'UsersController.update',
      'list after await :12',
      'list after await :19',
    ];
    const [stage] = result.stages;
    result.stages = [
      ...names.map((name) => ({ ...stage!, name })),
      { ...stage!, name: 'handler', place: 'src/a.js:3' },
      { ...stage!, name: 'handler', place: 'src/b.js:41' },
    ];
    for (const width of [60, 80, 100]) {
      const text = renderStairsTerminal(result, { ...plain, width });
      const table = text.slice(text.indexOf('stage '), text.indexOf('whole request'));
      const shown = table
        .split('\n')
        .slice(1, -1)
        .map((line) => line.replace(/ +[-−]?\d+\.\d .*/, ''));
      assert.ok(shown.length >= result.stages.length);
      assert.equal(new Set(shown).size, shown.length, text);
      for (const end of ['create', 'find', 'remove', 'update', ':12', ':19', ':3', ':41']) {
        assert.ok(
          shown.some((name) => name.endsWith(end)),
          `${end} in ${text}`,
        );
      }
    }
  });

  test('have no column for memory if none was counted', () => {
    const result = stairsFixture();
    delete result.whole.memory;
    for (const stage of result.stages) delete stage.memory;
    assert.doesNotMatch(renderStairsTerminal(result, plain), /kB|gc %/);
    assert.doesNotMatch(renderStairsHtml(result), /kB|gc %/);
  });

  test('withhold every verdict when the whole differs from itself', () => {
    const result = stairsFixture();
    result.whole.controlVerdict = 'changed';
    const text = renderStairsTerminal(result, plain);
    assert.match(text, /verifyToken .*withheld/);
    assert.doesNotMatch(text, /(same|unresolved)$/m);
  });
});

describe('the stairs in a browser', { skip }, () => {
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  before(async () => {
    browser = await launch();
    page = await browser.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.setContent(renderStairsHtml(everything()));
  });
  after(() => browser?.close());

  for (const width of [1280, 800, 360]) {
    it(`show every stage at ${width} pixels, without a complaint and without a sideways scroll`, async () => {
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(complaints, []);
      assert.equal(await page.locator('#stairs tr.stage').count(), 5);
      assert.equal(await page.locator('#stairs svg.m').count(), 6);
      assert.match(
        await page.locator('#stairs tr.stage').last().locator('[data-l="kB"]').innerText(),
        /^1.021/,
      );
      assert.equal(await page.locator('#stairs [data-l="gc %"]').count(), 6);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(overflow, 0);
    });
  }
});
