// Development runs on one Node; the packages promise others.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { engine as spawnEngine } from '@redline/child-process';
import { engine as httpEngine } from '@redline/http';
import { obtainRuntime, parseRuntime, type Runtime } from '@redline/lab';

const program = join(import.meta.dirname, 'supported-nodes/every-package.mjs');

for (const line of ['22', '26']) {
  test(`every package works on Node ${line}, on the engines it has here`, async (t) => {
    let runtime: Runtime;
    try {
      runtime = await obtainRuntime(parseRuntime(line), { signal: t.signal });
    } catch (error) {
      t.skip(`Node ${line} could not be fetched: ${(error as Error).message}`);
      return;
    }
    const { stdout } = await promisify(execFile)(runtime.file, [program], { signal: t.signal });
    assert.deepEqual(JSON.parse(stdout), [httpEngine(), spawnEngine()]);
  });
}
