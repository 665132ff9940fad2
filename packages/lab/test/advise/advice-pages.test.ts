import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { renderAdviseHtml } from '../../src/advise/advise-page.ts';
import { renderAdviseTerminal } from '../../src/advise/advise-terminal.ts';
import { renderProveHtml } from '../../src/prove/prove-page.ts';
import { renderProveTerminal } from '../../src/prove/prove-terminal.ts';
import { launch, skip } from '../report/chromium.ts';
import { advised, proved } from '../report/scenes.ts';

const pages: [name: string, html: string][] = [
  ['advice', renderAdviseHtml(advised)],
  ['no advice', renderAdviseHtml({ ...advised, advice: [], leftOut: [], unread: [] })],
  ['proofs', renderProveHtml(proved)],
];

describe('the pages of advise and prove', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  for (const [name, html] of pages) {
    for (const width of [1_300, 420]) {
      test(`${name}: no errors and no sideways scroll at ${width} px`, async () => {
        const page = await browser.newPage({ viewport: { width, height: 900 } });
        const said: string[] = [];
        page.on('console', (message) => said.push(message.text()));
        page.on('pageerror', (error) => said.push(String(error)));
        await page.setContent(html);
        assert.deepEqual(said, []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        await page.close();
      });
    }
  }
});

describe('the terminal reports of advise and prove', () => {
  const plain = { colour: false, unicode: true, files: { html: 'a.html', json: 'a.json' } };
  const texts: [name: string, text: string][] = [
    ['advice', renderAdviseTerminal(advised, plain)],
    ['proofs', renderProveTerminal(proved, { ...plain, evidence: 'evidence' })],
  ];
  for (const [name, text] of texts) {
    test(`${name}: fit into 80 columns and name their files`, () => {
      for (const line of text.split('\n')) assert.ok([...line].length <= 80, line);
      assert.match(text, /report {2}a\.html(?: {6}|\n)data +a\.json/);
    });
  }

  test('a loss is said as one, and what was not measured says why', () => {
    const [, text] = texts[1]!;
    assert.match(text, /node 24\.21\.0 +0\.50 .*\[0\.40, 0\.60\] +▼ changed/);
    assert.match(text, /node 10\.24\.1 +– +the advice needs Node 17/);
  });
});
