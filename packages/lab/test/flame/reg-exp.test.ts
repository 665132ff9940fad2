import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { summariseProfile } from '../../src/flame/summarise-profile.ts';
import { buildCallTree } from '../../src/profile/call-tree.ts';
import { checkCpuProfile } from '../../src/profile/cpu-profile.ts';
import { hottestLines } from '../../src/profile/hottest-lines.ts';
import { SourceMaps } from '../../src/profile/source-maps.ts';

const lines = [
  'function tested(text) { return pattern.test(text); }',
  "function replaced(text) { return text.replace(pattern, ''); }",
  'function parts(text) { return text.split(/,\\s*/); }',
  "function plain(text) { return text.replace('a', 'b').replaceAll(\"c\", 'd').split(','); }",
  'function sum(text) { return text.length + 1; }',
];

test('a function runs a regular expression if its hottest line does', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-reg-exp-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'app.js');
  writeFileSync(file, lines.join('\n'));
  const own = lines.map((line, index) => ({
    id: index + 2,
    callFrame: {
      functionName: /function (\w+)/.exec(line)![1],
      url: pathToFileURL(file).href,
      lineNumber: index,
      columnNumber: 0,
    },
    positionTicks: [{ line: index + 1, ticks: 10 }],
  }));
  const root = {
    id: 1,
    callFrame: { functionName: '(root)', url: '', lineNumber: -1, columnNumber: -1 },
    children: own.map(({ id }) => id),
  };
  const samples = own.map(({ id }) => id);
  const profile = checkCpuProfile(
    {
      nodes: [root, ...own],
      samples,
      timeDeltas: samples.map(() => 1_000),
      startTime: 0,
      endTime: samples.length * 1_000,
    },
    'test',
  );
  const { functions } = summariseProfile(
    buildCallTree(profile),
    new SourceMaps(),
    folder,
    hottestLines(profile),
  );
  assert.deepEqual(
    functions.flatMap(({ name, runsRegExp }) => (runsRegExp ? [name] : [])).toSorted(),
    ['parts', 'replaced', 'tested'],
  );
});
