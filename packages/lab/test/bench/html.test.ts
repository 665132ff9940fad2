import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { benchDocument } from '../../src/bench/report/bench-document.ts';
import type { BenchResult } from '../../src/bench/result.ts';
import { renderPageOf } from '../../src/document/page.ts';
import { launch, skip } from '../report/chromium.ts';
import { extremeRungs, failedControl, fixture, longNames, manyRungs } from '../report/fixture.ts';

function renderBench(result: BenchResult): string {
  return renderPageOf(benchDocument(result));
}

const ADDRESS = 'http://report.invalid/';

const scenes: Record<string, BenchResult> = {
  ladder: fixture({ warnings: ['The hypervisor took 6.1 % of the processor during restart 2.'] }),
  bench: fixture({ command: 'bench', mainThread: false }),
  'extreme ratios': fixture({ rungs: extremeRungs }),
  'long names': fixture({ rungs: longNames }),
  'forty variants': fixture({ rungs: manyRungs(40) }),
  'one variant': fixture({ command: 'bench', rungs: manyRungs(1) }),
  'a failed control': fixture({ control: failedControl }),
  'a skipped control': fixture({ control: { skipped: 'its port was taken' } }),
};

scenes['a noisy machine'] = noisy(fixture());

/** A run whose A/A control reached so far that the band of no difference is wider than the steps. */
function noisy(result: BenchResult): BenchResult {
  return { ...result, precision: { ...result.precision, cpuBand: 0.9, rpsBand: 1.1 } };
}

interface Opened {
  page: Page;
  /** What the browser complained about, and what it asked for beyond the page itself. */
  complaints: string[];
}

describe('the HTML report in a browser', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  async function open(
    result: BenchResult,
    width: number,
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<Opened> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const complaints: string[] = [];
    const body = renderBench(result);
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.route('**/*', async (route) => {
      if (route.request().url() === ADDRESS)
        await route.fulfill({ contentType: 'text/html', body });
      else {
        complaints.push(`asked for ${route.request().url()}`);
        await route.abort();
      }
    });
    await page.goto(ADDRESS);
    return { page, complaints };
  }

  for (const [name, result] of Object.entries(scenes)) describe(`of ${name}`, () => shows(result));

  /** One page for all of them: to open it takes longer than to look at it. */
  function shows(result: BenchResult): void {
    let page: Page;
    let complaints: string[];
    before(async () => ({ page, complaints } = await open(result, 1280)));
    after(() => page?.close());
    const widen = (width: number): Promise<void> => page.setViewportSize({ width, height: 900 });

    it('shows without a complaint, a request or a sideways scroll at any width', async () => {
      for (const width of [1280, 800, 360]) {
        await widen(width);
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - innerWidth,
        );
        assert.ok(overflow <= 0, `${overflow} px too wide at ${width} px`);
      }
      assert.deepEqual(complaints, []);
    });

    it('draws every measured row inside its plot', async () => {
      await widen(1280);
      const expected = [...result.variants, result.control].filter(
        (variant) => !('skipped' in variant),
      ).length;
      const rows = await page.$$eval('#ladder tbody tr:has(svg.m)', (all) =>
        all.map((row) =>
          [...row.querySelectorAll('svg.m')].map((plot) => {
            const area = plot.getBoundingClientRect();
            const mark = plot.querySelector('circle,rect')!.getBoundingClientRect();
            return {
              left: mark.left - area.left,
              right: area.right - mark.right,
              top: mark.top - area.top,
              bottom: area.bottom - mark.bottom,
            };
          }),
        ),
      );
      assert.equal(rows.length, expected);
      for (const gaps of rows.flat()) {
        // A dot on the very edge of its axis stands out by its radius.
        for (const gap of Object.values(gaps)) assert.ok(gap >= -4, JSON.stringify(gaps));
      }
    });

    it('keeps the band of no difference inside its plots', async () => {
      await widen(1280);
      const excess = await page.$$eval('svg.m:has(> .band)', (plots) =>
        plots.map((plot) => {
          const area = plot.getBoundingClientRect();
          const band = plot.querySelector('.band')!.getBoundingClientRect();
          return Math.max(area.left - band.left, band.right - area.right);
        }),
      );
      for (const pixels of excess) assert.ok(pixels <= 1, `${pixels} px outside`);
    });

    for (const width of [1280, 360]) {
      it(`keeps its texts apart from each other at ${width} px`, async () => {
        await widen(width);
        assert.deepEqual(await overlaps(page), []);
      });
    }
  }

  for (const theme of ['light', 'dark'] as const) {
    it(`keeps its text readable in the ${theme} theme`, async () => {
      const { page } = await open(scenes['ladder'] as BenchResult, 1280, theme);
      for (const { text, ratio } of await contrasts(page)) {
        assert.ok(ratio >= 4.5, `${text}: ${ratio.toFixed(2)} : 1`);
      }
      await page.close();
    });
  }

  it('changes the theme by its button, whatever the system prefers', async () => {
    const { page } = await open(scenes['ladder'] as BenchResult, 1280, 'dark');
    const background = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await page.click('#theme');
    assert.equal(await page.textContent('#theme'), 'Theme: light');
    const light = await background();
    assert.notEqual(light, dark);
    await page.click('#theme');
    assert.equal(await background(), dark);
    await page.close();
  });

  it('has one Tab stop a chart, with arrows between its marks and a tooltip that reads them', async () => {
    const { page } = await open(scenes['ladder'] as BenchResult, 1280);
    const stops = await page.$$eval('[data-rove]', (charts) =>
      charts.map((chart) => chart.querySelectorAll('[tabindex="0"]').length),
    );
    assert.deepEqual(stops, [1, 1]);

    const label = (): Promise<string | null> =>
      page.evaluate(() => document.activeElement!.getAttribute('aria-label'));
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement!.id), 'theme');
    await page.keyboard.press('Tab');
    assert.match((await label()) ?? '', /^express 4, node 24: base/);
    assert.equal(await page.isVisible('#tip'), true);
    await page.keyboard.press('ArrowRight');
    assert.match((await label()) ?? '', /^express 4, node 24: 69\.5 µs CPU per request/);
    await page.keyboard.press('ArrowDown');
    assert.match(
      (await label()) ?? '',
      /^express 4 again, A\/A control: 69\.3 µs CPU per request, same/,
    );
    await page.keyboard.press('End');
    assert.match((await label()) ?? '', /^go net\/http, the same answer: 13\.4 µs/);
    await page.keyboard.press('Escape');
    assert.equal(await page.isVisible('#tip'), false);
    await page.keyboard.press('Tab');
    assert.match((await label()) ?? '', /^express 4, node 26 over express 4/);
    await page.close();
  });

  it('keeps the names of its marks and tables for a screen reader', async () => {
    const { page } = await open(scenes['ladder'] as BenchResult, 360);
    assert.equal(await page.getByRole('table').count(), 2);
    assert.equal(await page.getByRole('rowheader', { name: /^fastify 5 \+ schema/ }).count(), 2);
    assert.equal(
      await page
        .getByRole('img', {
          name: /^fastify 5, node 24: 1\.27 × base, changed for the better\. 95 % interval \[1\.25,.1\.30\]/,
        })
        .count(),
      1,
    );
    await page.close();
  });

  it('runs no script that came in with a name', async () => {
    const { page, complaints } = await open(scenes['long names'] as BenchResult, 1280);
    assert.equal(await page.locator('script').count(), 1);
    assert.equal(await page.locator('img').count(), 0);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it('prints wide, light and without its buttons, whatever the screen was', async () => {
    const { page } = await open(scenes['ladder'] as BenchResult, 1032, 'dark');
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.isVisible('#theme'), false);
    assert.equal(
      await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
      'rgb(255, 255, 255)',
    );
    assert.equal(await page.isVisible('#ladder thead th:nth-child(3)'), true);
    assert.deepEqual(await overlaps(page), []);
    await page.close();
  });
});

/** Pairs of texts in the tables whose boxes lie over each other. */
function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const table of document.querySelectorAll('table')) {
      const boxes: { text: string; cell: Element | null; box: DOMRect }[] = [];
      const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode;
        const text = node.textContent ?? '';
        if (text.trim() === '') continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) {
          if (box.width > 1) boxes.push({ text, cell: node.parentElement, box });
        }
      }
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
    }
    return found;
  });
}

function contrasts(page: Page): Promise<{ text: string; ratio: number }[]> {
  return page.evaluate(() => {
    const context = document
      .createElement('canvas')
      .getContext('2d', { willReadFrequently: true })!;
    const luminance = (colour: string): number => {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0] = [...context.getImageData(0, 0, 1, 1).data].map(
        (value) => {
          const share = value / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        },
      );
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const background = luminance(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll('p,h1,h2,h3,li,dt,dd,th,td,small,b,.v,code,svg text')]
      .filter((element) => element.getClientRects().length > 0)
      .map((element) => {
        const style = getComputedStyle(element);
        const colour = luminance(element instanceof SVGElement ? style.fill : style.color);
        const [light, dark] = colour > background ? [colour, background] : [background, colour];
        return {
          text: `${element.tagName} ${element.textContent?.slice(0, 30)}`,
          ratio: (light + 0.05) / (dark + 0.05),
        };
      });
  });
}
