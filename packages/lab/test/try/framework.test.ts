import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { environmentName, type Listening } from '../../src/try/preload/protocol.ts';

const scout = new URL('../../src/try/preload/scout.ts', import.meta.url).href;
const { resolve } = createRequire(import.meta.url);

/** The framework that the scout reports for an Express server in a process that runs `first` before. */
async function framework(t: TestContext, first: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'redline-framework-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'sightings');
  writeFileSync(
    join(folder, 'app.mjs'),
    `${first}
import express from ${JSON.stringify(resolve('express'))};
const server = express().listen(0, '127.0.0.1', () => setTimeout(() => server.close(), 200));`,
  );
  const app = spawn(process.execPath, ['--import', scout, join(folder, 'app.mjs')], {
    env: { ...process.env, [environmentName]: JSON.stringify({ file }) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(app, 'exit');
  const [line] = readFileSync(file, 'utf8').split('\n');
  return (JSON.parse(line!) as Listening).framework;
}

describe('the framework that serves', () => {
  test('is Express if the app does not load Nest', async (t) => {
    assert.equal(await framework(t, ''), 'Express');
  });

  test('is Nest if the app loads it', async (t) => {
    const core = JSON.stringify(import.meta.resolve('@nestjs/core'));
    assert.equal(await framework(t, `import ${core};`), 'Nest on Express');
  });
});
