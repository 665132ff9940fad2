import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { blockedCalls } from '../../src/doctor/cost/blocked.ts';
import { addSample, emptyTree, finishTree, type Frame } from '../../src/profile/call-tree.ts';
import { SourceMaps } from '../../src/profile/source-maps.ts';

test('a synchronous call of what watches the app is not a finding, and one of the app behind it is', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-blocked-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'app.js'), 'function show() {}\n');
  const frame = (name: string, url: string, owner: Frame['owner']): Frame => ({
    name,
    url,
    line: 1,
    column: 'function show'.length + 1,
    owner,
  });
  const show = frame('show', pathToFileURL(join(folder, 'app.js')).href, 'app');
  const scout = frame('', new URL('../../src/try/preload/scout.ts', import.meta.url).href, 'app');
  const spawn = frame('spawn', 'node:child_process', 'core');
  const core = (name: string): Frame => frame(name, 'node:fs', 'core');
  const tree = emptyTree(1);
  for (const frames of [
    [show, spawn, scout, core('appendFileSync')],
    [show, scout, core('spawnSync')],
  ]) {
    addSample(
      tree,
      frames.map((each) => ({ frame: each, tier: undefined })),
    );
  }
  finishTree(tree);
  const found = blockedCalls(tree, { maps: new SourceMaps(), folder, isKnown: () => false });
  assert.deepEqual(
    found.map(({ finding: { file, line, why } }) => `${file}:${line} ${why.split(' ')[0]}`),
    ['app.js:1 spawnSync'],
  );
});
