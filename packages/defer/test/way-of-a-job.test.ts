// The picture of a job's way in docs/design/defer.md, compared with the code.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const source = join(import.meta.dirname, '../src');
const page = readFileSync(join(import.meta.dirname, '../../../docs/design/defer.md'), 'utf8');
const picture = /\*\*The way of a job\*\*[^]*?```\n([^]*?)```/.exec(page)![1]!;
const arrows = Array.from(picture.matchAll(/^ *(\S+) ([→⇢]) (\S+)/gm), ([, from, kind, to]) => ({
  from: from!,
  isImport: kind === '→',
  to: to!,
}));

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  return Array.from(text.matchAll(/from '(\.[^']+)'/g), ([, path]) =>
    relative(source, join(source, dirname(file), path!)),
  );
}

test('each arrow of the picture is an import', () => {
  assert.ok(arrows.length >= 10);
  for (const { from, isImport, to } of arrows) {
    for (const file of [from, to]) assert.ok(existsSync(join(source, file)), `${file} is missing`);
    assert.equal(importsOf(from).includes(to), isImport, `${from} imports ${to}`);
  }
});

test('the picture is one way: each arrow begins where an earlier one ended', () => {
  const reached = new Set([arrows[0]!.from]);
  for (const { from, to } of arrows) {
    assert.ok(reached.has(from), `nothing before leads to ${from}`);
    reached.add(to);
  }
});
