// Each folder of examples/ is somebody's start: copied elsewhere, `npm install && npm start` has to do.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@redline/services';
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
      const cwd = copy(name, folder);
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

/** The files that are committed, and no other. */
function copy(name: string, folder: string): string {
  const source = join(root, 'examples', name);
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: source,
    encoding: 'utf8',
  });
  for (const file of files.trim().split('\n')) {
    mkdirSync(dirname(join(folder, name, file)), { recursive: true });
    cpSync(join(source, file), join(folder, name, file));
  }
  return join(folder, name);
}

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
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
    await exited;
  });
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${env['PORT']}${path}`).catch(() => undefined);
    if (response?.ok) return response.text();
    assert.equal(child.exitCode, null, output);
    await sleep(50);
  }
}
