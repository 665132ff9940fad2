import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n');

describe('the links of a page lead to files and headings of this repository:', () => {
  for (const page of pages) {
    test(page, () => {
      const links = linksOf(readFileSync(join(root, page), 'utf8'));
      assert.deepEqual(
        links.filter((link) => !leadsSomewhere(page, link)),
        [],
      );
    });
  }
});

/** Targets of `[text](target)`, those of other sites excepted. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, 'code');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!)
    .filter((target) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path, heading] = link.split('#', 2) as [string, string?];
  const file = path === '' ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(file)) return false;
  if (heading === undefined || statSync(file).isDirectory()) return heading === undefined;
  return anchorsOf(readFileSync(file, 'utf8')).has(heading);
}

/** What GitHub makes of headings, and anchors written by hand. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ +(.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const written = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map((match) => match[1]!);
  return new Set([...headings, ...written]);
}
