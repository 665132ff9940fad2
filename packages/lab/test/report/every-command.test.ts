import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { topDocument } from '../../src/access-log/top-document.ts';
import { deoptsDocument } from '../../src/deopts/deopts-document.ts';
import { changeDocument } from '../../src/flame/change-document.ts';
import { flameDocument } from '../../src/flame/flame-document.ts';
import { heapDocument } from '../../src/heap/heap-document.ts';
import { adviseDocument } from '../../src/advise/advise-document.ts';
import type { AdviseResult } from '../../src/advise/result.ts';
import { doctorDocument } from '../../src/doctor/report/doctor-document.ts';
import { benchDocument } from '../../src/bench/report/bench-document.ts';
import { tryDocument } from '../../src/try/report/try-document.ts';
import type { Document } from '../../src/document/document.ts';
import { renderMarkdown } from '../../src/document/markdown.ts';
import { renderPageOf } from '../../src/document/page.ts';
import { renderTerminal } from '../../src/document/terminal.ts';
import { proveDocument } from '../../src/prove/prove-document.ts';
import { stairsDocument } from '../../src/stairs/report/stairs-document.ts';
import type { TerminalOptions } from '../../src/report/terminal-options.ts';
import { checkBudget } from '../../src/stairs/budget.ts';
import { predict } from '../../src/stairs/what-if.ts';
import { stairsFixture } from '../stairs/fixture.ts';
import { launch, skip } from './chromium.ts';
import { extremeRungs, fixture, longNames } from './fixture.ts';
import { leaking, steady } from './heap-scenes.ts';
import {
  advised,
  climbed,
  deopts,
  diffed,
  examined,
  flamed,
  proved,
  replayed,
  topped,
  tried,
  waitingStairs,
} from './scenes.ts';

interface Scene {
  terminal(options: TerminalOptions): string;
  markdown: string;
  /** Of its tables, with their heads. @default 3 */
  minRows?: number;
  html: string;
}

function measured(...given: Parameters<typeof fixture>): Scene {
  return shown(benchDocument(fixture(...given)));
}

function taken(result: ReturnType<typeof stairsFixture>): Scene {
  return shown(
    stairsDocument({
      ...result,
      whatIf: predict(result, [{ stage: 'verifyToken', to: '0' }]),
      budget: checkBudget(
        result,
        { schema: 1, unit: 'µs', stages: { verifyToken: 2, gone: 3 } },
        'stairs.budget.json',
      ),
    }),
  );
}

function shown(document: Document): Scene {
  return {
    terminal: (options) => renderTerminal(document, options),
    markdown: renderMarkdown(document),
    html: renderPageOf(document),
  };
}

function advice(result: AdviseResult): Scene {
  return { ...shown(adviseDocument(result)), minRows: result.advice.length };
}

const scenes: Record<string, Scene> = {
  ladder: measured(),
  bench: measured({ command: 'bench' }),
  'a bench of long names': measured({ command: 'bench', rungs: longNames }),
  'a ladder of extremes': measured({ rungs: extremeRungs }),
  stairs: taken(stairsFixture()),
  'stairs that wait': taken(waitingStairs()),
  flame: shown({ ...flameDocument(flamed()), files: { profile: 'a.cpuprofile' } }),
  'flame --diff': shown(changeDocument(diffed)),
  deopts: shown(deoptsDocument(deopts, false)),
  heap: shown(heapDocument(leaking)),
  'heap that does not grow': shown(heapDocument(steady)),
  top: shown(topDocument(topped, 15)),
  replay: shown(topDocument(replayed, 15)),
  try: shown(tryDocument(tried({}))),
  'try that gains nothing': shown(tryDocument(tried({ cpu: 1.01, rps: 1.005 }))),
  doctor: shown(doctorDocument(examined)),
  'doctor with a ladder': shown(doctorDocument(climbed)),
  advise: advice(advised),
  'advise without advice': advice({ ...advised, advice: [], leftOut: [], unread: [] }),
  prove: shown(proveDocument(proved, 'evidence')),
};

describe('the terminal report', () => {
  for (const [name, { terminal }] of Object.entries(scenes)) {
    for (const width of [60, 80, 100, 160, 200]) {
      test(`of ${name} fits into ${width} columns`, () => {
        for (const unicode of [true, false]) {
          for (const line of terminal({ width, colour: false, unicode }).split('\n')) {
            assert.ok([...line].length <= width, `${[...line].length}: ${line}`);
            assert.equal(line, line.trimEnd());
          }
        }
      });
    }

    test(`of ${name} uses the whole width of a wide terminal`, () => {
      const lines = terminal({ width: 160, colour: false, unicode: true }).split('\n');
      const [rule] = lines;
      assert.equal(rule, '─'.repeat(160));
    });
  }

  test('of a narrow terminal keeps every figure of a bench', () => {
    const figures = (width: number): string[] => {
      const text = scenes['bench']!.terminal({ width, colour: false, unicode: true });
      return [...text.matchAll(/\[[\d., ]+\]/g)].map(([range]) => range);
    };
    assert.deepEqual(figures(60), figures(100));
  });
});

describe('the Markdown', () => {
  for (const [name, { markdown, minRows = 3 }] of Object.entries(scenes)) {
    test(`of ${name} has a heading and tables of even rows`, () => {
      assert.match(markdown, /^### \S/);
      const rows = markdown.split('\n').filter((line) => line.startsWith('|'));
      assert.ok(rows.length >= minRows, markdown);
      for (const table of markdown.split('\n\n')) {
        const own = table.split('\n').filter((line) => line.startsWith('|'));
        // A cell's own bar is escaped.
        const cells = own.map((row) => row.replaceAll('\\|', '').split('|').length);
        assert.ok(new Set(cells).size <= 1, table);
      }
      assert.doesNotMatch(markdown, /undefined|NaN|\[object|[\u00a0\u2007\u2008\u202f]/);
      assert.doesNotMatch(markdown, /^(?!\|).*<(?:script|img|b)\b/m);
    });
  }
});

const address = 'http://report.invalid/';

describe('the page', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  for (const [name, { html }] of Object.entries(scenes)) {
    describe(`of ${name}`, () => {
      let page: Page;
      let said: string[];
      // One for both widths: to open a page takes longer than to load it.
      before(async () => {
        page = await browser.newPage();
        page.on('console', (message) => said.push(message.text()));
        page.on('pageerror', (error) => said.push(String(error)));
        await page.route(address, (route) =>
          route.fulfill({ contentType: 'text/html', body: html }),
        );
      });
      after(() => page?.close());

      for (const width of [390, 1280]) {
        test(`keeps to ${width} px, and its texts apart`, async () => {
          said = [];
          await page.setViewportSize({ width, height: 900 });
          await page.goto(address);
          assert.deepEqual(said, []);
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
          assert.deepEqual(await overprinted(page), []);
        });
      }
    });
  }

  for (const name of ['flame', 'flame --diff']) {
    test(`of ${name} keeps the line under its graph off its key, wherever the fold is`, async () => {
      await using page = await browser.newPage({ viewport: { width: 390, height: 900 } });
      await page.setContent(scenes[name]!.html);
      const key = await page.locator('.fg-key').boundingBox();
      for (const height of [key!.y + 10, key!.y + key!.height, key!.y + key!.height + 30]) {
        await page.setViewportSize({ width: 390, height: Math.round(height) });
        assert.deepEqual(await overprinted(page), [], `${height} px high`);
      }
    });
  }
});

/** Pairs of texts whose lines lie over each other, and texts beyond the margins of the page. */
function overprinted(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const edge = document.querySelector('h1')!.getBoundingClientRect();
    const boxes: { text: string; box: DOMRect }[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const parent = node.parentElement!;
      const isShown = parent.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      // Labels of the flamegraph are clipped to their frames.
      if (!isShown || parent.closest('script,style,noscript,.fg') !== null) continue;
      if ((node.textContent ?? '').trim() === '') continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) {
        if (box.width > 1) boxes.push({ text: node.textContent!.trim().slice(0, 60), box });
      }
    }
    const found = boxes.flatMap(({ text, box }) =>
      box.right > edge.right + 1 || box.left < edge.left - 1 ? [`beyond the edge: ${text}`] : [],
    );
    for (const [index, one] of boxes.entries()) {
      for (const other of boxes.slice(index + 1)) {
        const wide =
          Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const high =
          Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        // Line boxes are higher than their letters.
        if (wide > 1 && high > 6) found.push(`${one.text} / ${other.text}`);
      }
    }
    return found;
  });
}
