import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { benchDocument } from '../../src/bench/report/bench-document.ts';
import { isMeasured, type BenchResult } from '../../src/bench/result.ts';
import { renderPageOf } from '../../src/document/page.ts';
import { failedControl, fixture, longNames, manyRungs } from '../report/fixture.ts';

function renderBench(result: BenchResult): string {
  return renderPageOf(benchDocument(result));
}

const textOf = (html: string): string =>
  html
    .replace(/<(style|script)>[^]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/[\s\u00a0\u202f]+/g, ' ');

describe('the HTML report', () => {
  it('opens with what changed, names what did not, and keeps a skipped rung in its place', () => {
    const text = textOf(renderBench(fixture()));
    assert.match(
      text,
      /changed Top rung against the base: redline response cache : 57\.8 µs less CPU per request \[57\.4, 58\.1\], at least 5\.42 × the requests/,
    );
    assert.match(
      text,
      /unresolved Rungs not told apart from the one below \(restarts that would settle it\): express 4, node 26 2\.8 µs less to 1\.1 µs more \(≈ 70 restarts\)/,
    );
    assert.match(text, /same Rungs within ± 2 % of the one below: fastify 5 \+ ajv cache/);
    const order = [
      'express 5 node 24',
      'express 4 on bun bun 1.4 skipped: bun is not installed',
      'fastify 5 node 24',
    ].map((part) => text.indexOf(part));
    assert.ok(
      order.every((at, index) => at > (order[index - 1] ?? 0)),
      String(order),
    );
  });

  it('promises restarts that would settle something only where it names them', () => {
    for (const command of ['ladder', 'bench'] as const) {
      const result = fixture({ command });
      assert.match(textOf(renderBench(result)), /\(restarts that would settle it\): /);
      for (const variant of result.variants) {
        if (!isMeasured(variant)) continue;
        delete variant.cpuRestartsToSettle;
        delete variant.step?.cpu.restartsToSettle;
      }
      const text = textOf(renderBench(result));
      assert.match(
        text,
        /unresolved (Rungs not told apart from the one below|CPU against the base): /,
      );
    }
  });

  it('withholds every verdict but the control’s when the control reads changed', () => {
    const html = renderBench(fixture({ control: failedControl }));
    const text = textOf(html);
    assert.ok(text.indexOf('The base differs from itself.') < text.indexOf('Machine'));
    const words = [...html.matchAll(/class="v (\w+)"/g)].map(([, word]) => word);
    assert.deepEqual(new Set(words), new Set(['base', 'same', 'better', 'withheld', 'skip']));
    assert.equal(words.filter((word) => word === 'better').length, 1);
  });

  it('withholds the verdicts on requests alone when only those of the control differ', () => {
    const control = {
      rpsRatio: { value: 0.96, low: 0.95, high: 0.97 },
      rpsVerdict: 'changed' as const,
    };
    const text = textOf(renderBench(fixture({ control })));
    assert.match(text, /The verdicts on requests per second are withheld; those on CPU stand\./);
    assert.match(
      text,
      /17 795 withheld fastify 5, node 24: 54\.6 µs CPU per request, changed for the better/,
    );
  });

  it('says before the findings that there was no control', () => {
    const text = textOf(renderBench(fixture({ control: { skipped: 'its port was taken.' } })));
    const warning = text.indexOf(
      'The A/A control was not measured (its port was taken): nothing here shows',
    );
    assert.ok(warning > 0 && warning < text.indexOf('Top rung against the base'));
  });

  it('escapes what it did not write itself', () => {
    const html = renderBench(
      fixture({ rungs: longNames, title: '</title><script>alert(1)</script>' }),
    );
    assert.doesNotMatch(html, /<script>alert|<img/);
    assert.equal(html.match(/<script/g)?.length, 1);
  });

  it('stays under 80 KB with ten variants and leaves the slices out', () => {
    const html = renderBench(fixture());
    assert.ok(Buffer.byteLength(html) < 80_000, `${Buffer.byteLength(html)} bytes`);
    assert.doesNotMatch(html, /1460751|1 460 751/);
  });

  it('has no steps outside ladders and no main thread column without figures for it', () => {
    const html = renderBench(fixture({ command: 'bench', mainThread: false }));
    assert.doesNotMatch(html, /id="steps"|main thread<|class="n main"/);
    assert.match(html, /<h2 id="ladder-heading">Variants<\/h2>/);
  });

  it('names the largest findings of a long ladder and counts the rest', () => {
    assert.match(
      textOf(renderBench(fixture({ rungs: manyRungs(40) }))),
      /and \d+ more, in the table/,
    );
  });

  it('compares what stands beside a ladder with the rung before it, and never calls it the top', () => {
    const text = textOf(renderBench(fixture()));
    assert.match(text, /10 rungs and 1 beside the ladder/);
    assert.match(
      text,
      /changed Beside the ladder: go net\/http against redline response cache: 1\.6 µs more CPU per request \[1\.2, 2\.1\], 1\.03 × the requests/,
    );
    assert.match(text, /go net\/http beside redline response cache/);
  });

  it('marks no p99 where a single restart gave it no interval', () => {
    const result = fixture();
    for (const variant of [...result.variants, result.control]) {
      if (!('skipped' in variant)) {
        variant.latencyMs.p99Low = variant.latencyMs.p99;
        variant.latencyMs.p99High = variant.latencyMs.p99;
      }
    }
    const html = renderBench(result);
    assert.doesNotMatch(html, /<i class="v/);
    assert.match(html, /<small>no interval<\/small>/);
  });

  it('works when everything but the base was skipped', () => {
    const rungs = [{ name: 'base' }, { name: 'other', skipped: 'it did not start' }];
    const text = textOf(renderBench(fixture({ rungs, control: { skipped: 'it did not start' } })));
    assert.match(text, /other skipped: it did not start/);
  });

  it('works when the base itself was skipped', () => {
    const rungs = [
      { name: 'base', skipped: 'it did not start' },
      { name: 'other', cpu: 1.2 },
    ];
    assert.match(
      textOf(renderBench(fixture({ rungs, command: 'bench' }))),
      /base skipped: it did not start/,
    );
  });
});
