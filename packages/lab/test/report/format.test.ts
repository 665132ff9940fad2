import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { about, estimateColumn, fixed, percent, seconds, signed } from '../../src/report/format.ts';
import { escape, markup } from '../../src/report/markup.ts';

describe('figures', () => {
  it('have a true minus, narrow spaces between thousands and no negative zero', () => {
    assert.equal(fixed(-1234.56, 1), '−1\u202f234.6');
    assert.equal(fixed(1_234_567), '1\u202f234\u202f567');
    assert.equal(fixed(-0.04, 1), '0.0');
    assert.equal(signed(3.66, 1), '+3.7');
    assert.equal(signed(-0.01, 1), '0.0');
    assert.equal(fixed(Number.NaN, 1), '–');
  });

  it('share their decimals down a column, as many as its intervals support', () => {
    const column = estimateColumn(
      [
        { value: 1.5218, low: 1.47, high: 1.57 },
        { value: 1.3443, low: 1.24, high: 1.45 },
        { value: 1, low: 1, high: 1 },
      ],
      2,
    );
    assert.deepEqual(
      column.map(({ value, range }) => `${value} ${range}`),
      ['1.52 [1.47,\u00a01.57]', '1.34 [1.24,\u00a01.45]', '1.00 '],
    );
  });

  it('never let an interval print as a point', () => {
    const [row] = estimateColumn(
      [
        { value: 0.05, low: 0.049, high: 0.051 },
        { value: 2, low: 1.7, high: 2.3 },
        { value: 3, low: 2.6, high: 3.4 },
      ],
      2,
    );
    assert.equal(row?.range, '[0.049,\u00a00.051]');
  });

  it('claim no digits a coarse interval does not support, and fill up instead', () => {
    const rows = estimateColumn(
      [
        { value: 69.5, low: 68.8, high: 70.2 },
        { value: 1390.2, low: 1362, high: 1418 },
        { value: 45.7, low: 44.8, high: 46.6 },
      ],
      1,
    );
    assert.deepEqual(rows[1], {
      value: '1\u202f390',
      pad: '\u2008\u2007',
      range: '[1\u202f362,\u00a01\u202f418]',
    });
  });

  it('read as people say them', () => {
    assert.equal(percent(0.02), '2\u00a0%');
    assert.equal(percent(0.0153), '1.5\u00a0%');
    assert.equal(percent(0.614), '61\u00a0%');
    assert.equal(seconds(190), '3 m 10 s');
    assert.equal(seconds(65), '1 m 05 s');
    assert.equal(seconds(3725), '1 h 02 m');
    assert.equal(about(137), '140');
    assert.equal(about(90), '90');
    assert.equal(about(12_345), '13\u202f000');
  });
});

describe('an end that is not 0 is not printed as 0', () => {
  const coarse = { value: 4.6, low: 0.3, high: 9.8 };

  it('in a row by itself', () => {
    assert.equal(estimateColumn([coarse], 1)[0]!.range, '[0.3,\u00a09.8]');
  });

  it('in a coarse row of a fine column', () => {
    const fine = { value: 2.345, low: 2.34, high: 2.35 };
    const column = estimateColumn([coarse, fine, fine, fine], 1);
    assert.equal(column[0]!.range, '[0.3,\u00a09.8]');
  });
});

describe('markup', () => {
  it('escapes every value and leaves markup as it is', () => {
    assert.equal(
      String(markup`<b title="${'"&'}">${'<i>'}${markup`<u>${1}</u>`}${undefined}${false}</b>`),
      '<b title="&quot;&amp;">&lt;i&gt;<u>1</u></b>',
    );
  });

  it('replaces what no document may hold', () => {
    assert.equal(escape('a\u0000b\u001bc\ud800'), 'a\ufffdb\ufffdc\ufffd');
  });
});
