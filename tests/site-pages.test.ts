// The site itself is built and read by `npm run docs:check`; this needs nothing that is installed for it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { home } from '../site/home.ts';
import { rewriteLinks } from '../site/links.ts';
import { pages, root } from '../site/pages.ts';

describe('a page of the site', () => {
  test('is one file of the repository, at one address', () => {
    assert.equal(new Set(pages.map(({ source }) => source)).size, pages.length);
    assert.equal(new Set(pages.map(({ route }) => route)).size, pages.length);
  });

  test('leads to pages of the site, and to the repository where there is none', () => {
    const text = [
      '[a](http.md#x) [`b`](../../packages/lab/README.md) [c](../../packages/http)',
      '[d](../../examples/legacy-http/src) [e](https://example.org) [f](#g) `[h](i.md)`',
      '<img src="../charts/defer.svg"> <a href="stairs.md">j</a> [k](../../README.md)',
    ];
    assert.deepEqual(rewriteLinks(text.join('\n'), 'docs/guide/stairs.md').split('\n'), [
      '[a](/guide/http.md#x) [`b`](/packages/lab.md) [c](/packages/http.md)',
      '[d](https://github.com/redline/redline/tree/main/examples/legacy-http/src) [e](https://example.org) [f](#g) `[h](i.md)`',
      '<img src="/charts/defer.svg"> <a href="/guide/stairs.html">j</a> [k](/)',
    ]);
  });

  for (const { source } of pages) {
    test(`has links that lead somewhere: ${source}`, () => {
      rewriteLinks(readFileSync(join(root, source), 'utf8'), source);
    });
  }
});

test('the first page has the figures of the result files, and places for no others', () => {
  const page = home();
  assert.doesNotMatch(page, /<!-- (?:figure|ladder)/);
  const { variants } = JSON.parse(
    readFileSync(join(root, 'benchmarks/results/cached-api.json'), 'utf8'),
  ) as { variants: { name: string }[] };
  for (const { name } of variants) assert.match(page, new RegExp(`>${name}<small>`));
});
