// Each folder of examples/ is somebody's start: copied elsewhere, `npm install && npm start` has to do.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@redline/services';
import { copyExample } from './copy-example.ts';
import { type LoopbackRegistry, npmEnvironment, startRegistry } from './loopback-registry.ts';

const root = join(import.meta.dirname, '..');

/** What its server answers. */
const responses: Record<string, [path: string, body: RegExp]> = {
  'cached-api': ['/cached', /"sku":/],
  'deferred-work': ['/orders', /\[|\{/],
  docker: ['/articles/7', /"title":"Article 7"/],
  'legacy-http': ['/shop/shoes/list', /"items"/],
  'process-per-request': ['/', /^hi\n$/],
};

describe('an example, copied out of the repository,', () => {
  let registry: LoopbackRegistry;
  const folder = mkdtempSync(join(tmpdir(), 'redline examples '));
  before(async () => {
    registry = await startRegistry();
  });
  after(() => {
    registry.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const name of readdirSync(join(root, 'examples'))) {
    test(`installs and starts: ${name}`, async (t) => {
      const cwd = copyExample(name, folder);
      const env: NodeJS.ProcessEnv = {
        ...npmEnvironment(registry),
        PORT: String(await freePort()),
      };
      delete env['REDIS_URL'];
      await promisify(execFile)('npm', ['install'], { cwd, env });
      const [path, body] = responses[name]!;
      assert.match(await answerOf(t, cwd, env, path), body);
    });
  }
});

async function answerOf(
  t: TestContext,
  cwd: string,
  env: NodeJS.ProcessEnv,
  path: string,
): Promise<string> {
  // A group of its own: npm is not the server, and ends before it.
  const child = spawn('npm', ['start'], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const exited = once(child, 'exit');
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM');
    await exited;
  });
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${env['PORT']}${path}`).catch(() => undefined);
    if (response?.ok) return response.text();
    assert.equal(child.exitCode, null, output);
    await sleep(50);
  }
}
