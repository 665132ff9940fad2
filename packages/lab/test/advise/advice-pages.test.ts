import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { adviseDocument } from '../../src/advise/advise-document.ts';
import { renderTerminal } from '../../src/document/terminal.ts';
import { proveDocument } from '../../src/prove/prove-document.ts';
import { advised, proved } from '../report/scenes.ts';

describe('the terminal reports of advise and prove', () => {
  const plain = { colour: false, unicode: true, files: { html: 'a.html', json: 'a.json' } };
  const texts: [name: string, text: string][] = [
    ['advice', renderTerminal(adviseDocument(advised), plain)],
    ['proofs', renderTerminal(proveDocument(proved, 'evidence'), plain)],
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
    assert.match(text, /node 10\.24\.1 +– skipped: the advice needs Node 17/);
  });
});
