import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { paint, usesColour, usesUnicode } from '../../src/report/colour.ts';

describe('colour', () => {
  it('is for terminals, and never against NO_COLOR', () => {
    assert.equal(usesColour({ isTTY: true }, {}), true);
    assert.equal(usesColour({ isTTY: false }, {}), false);
    assert.equal(usesColour({ isTTY: true }, { NO_COLOR: '1' }), false);
    assert.equal(usesColour({ isTTY: true }, { NO_COLOR: '' }), true);
    assert.equal(usesColour({ isTTY: true }, { TERM: 'dumb' }), false);
    assert.equal(usesColour({ isTTY: false }, { FORCE_COLOR: '1' }), true);
    assert.equal(usesColour({ isTTY: true }, { FORCE_COLOR: '0' }), false);
    assert.equal(usesColour({ isTTY: true }, { FORCE_COLOR: '1', NO_COLOR: '1' }), false);
  });

  it('is given to better and worse alone', () => {
    assert.equal(paint('▲', 'better', true), '\u001b[34m▲\u001b[39m');
    assert.equal(paint('▼', 'worse', true), '\u001b[33m▼\u001b[39m');
    assert.equal(paint('=', 'same', true), '=');
    assert.equal(paint('▲', 'better', false), '▲');
  });
});

describe('Unicode', () => {
  it('is drawn where the locale is UTF-8 or there is none', () => {
    assert.equal(usesUnicode({ LANG: 'en_GB.UTF-8' }, 'linux'), true);
    assert.equal(usesUnicode({}, 'linux'), true);
    assert.equal(usesUnicode({ LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, 'linux'), false);
    assert.equal(usesUnicode({ TERM: 'linux', LANG: 'en_GB.UTF-8' }, 'linux'), false);
    assert.equal(usesUnicode({}, 'win32'), false);
    assert.equal(usesUnicode({ WT_SESSION: 'x' }, 'win32'), true);
  });
});
