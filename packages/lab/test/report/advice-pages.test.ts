import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { AdviseResult } from '../../src/advise/result.ts';
import type { ProveResult } from '../../src/prove/result.ts';
import { renderAdviseHtml } from '../../src/report/advise-page.ts';
import { renderAdviseTerminal } from '../../src/report/advise-terminal.ts';
import { renderProveHtml } from '../../src/report/prove-page.ts';
import { renderProveTerminal } from '../../src/report/prove-terminal.ts';
import { launch, skip } from './chromium.ts';

const run = {
  invocation: 'redline of a test',
  runId: 'abc123',
  redlineVersion: '0.1.0',
  startedAt: '2026-11-21T12:00:00.000Z',
};

const advised: AdviseResult = {
  ...run,
  schema: 1,
  command: 'advise',
  title: 'app.cpuprofile',
  node: '24.21.0',
  profile: { from: 'app.cpuprofile', samples: 1_000, seconds: 1 },
  leastShare: 0.01,
  leftOut: [{ rule: 'hoist-regexp-literal', hits: 2, why: 'not shown to gain on Node 24' }],
  unread: [{ url: 'file:///gone.js', why: 'ENOENT' }],
  advice: [2, 130].map((value, index) => ({
    rule: 'no-to-fixed-for-numbers',
    text: 'round with Math.round',
    changesResult: 'halves may round the other way, which takes a long sentence to say in full',
    file: 'src/<script>.js',
    line: 10,
    column: 3,
    function: 'priceOf',
    share: 0.5 / (index + 1),
    gain: { value, low: value * 0.9, high: value * 1.1, node: '24.21.0' },
    code: 'const price = parseFloat((product.price * (1 - discount / 100)).toFixed(2)); // <b>'.repeat(
      2,
    ),
    rewrite: { text: 'Math.round(price * 100) / 100', isSafe: false },
  })),
};

const proved: ProveResult = {
  ...run,
  schema: 1,
  command: 'prove',
  durationSeconds: 3,
  machine: {
    cpuModel: 'a processor',
    cores: 2,
    memoryGiB: 8,
    kernel: 'Linux',
    node: 'v24.21.0',
    v8: '13.6',
    governor: 'not visible',
    virtualisation: 'container',
    pinning: 'none',
  },
  precision: {
    restarts: 5,
    blocks: 6,
    blockMs: 25,
    warmUpMs: 120,
    seed: 1,
    resamples: 10_000,
    leastGain: 0.3,
  },
  rules: [
    {
      rule: 'prefer-structured-clone',
      before: 'function clone(a) {\n  return JSON.parse(JSON.stringify(a));\n}',
      after: 'function clone(a) {\n  return structuredClone(a);\n}',
      runtimes: [
        { node: '10.24.1', skipped: 'the advice needs Node 17' },
        {
          node: '24.21.0',
          v8: '13.6',
          timer: 'mitata 1.0.34',
          ratio: { value: 0.5, low: 0.4, high: 0.6 },
          verdict: 'changed',
          beforeNanos: 900,
          afterNanos: 1_800,
          restarts: 5,
          blocks: 6,
          seed: 1,
          machine: 'a processor',
          measuredOn: '2026-11-21',
          slices: [],
        },
      ],
    },
  ],
};

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
