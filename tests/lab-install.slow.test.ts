// What `npm install @redline/lab` brings, and `npx @redline/lab` without one.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type LoopbackRegistry, npmEnvironment, startRegistry } from './loopback-registry.ts';

const run = promisify(execFile);
/** What one who only wants to measure accepts. The engines, which `try` measures, are optional. */
const limits = { packages: 40, megabytes: 12 };
const installs = [
  { what: 'without the engines', options: ['--omit=optional'] },
  { what: 'with the engines', options: [] },
];

describe('@redline/lab from a registry', () => {
  let registry: LoopbackRegistry;
  const folder = mkdtempSync(join(tmpdir(), 'redline install '));
  before(async () => {
    registry = await startRegistry();
  });
  after(() => {
    registry.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  // A cache of its own: in that of the user, npx may have another version of the lab.
  const env = (): NodeJS.ProcessEnv => ({
    ...npmEnvironment(registry),
    npm_config_cache: join(folder, 'cache'),
  });

  test('runs by npx where nothing is installed, a config with defineConfig included', async () => {
    const cwd = mkdtempSync(join(folder, 'empty '));
    const { stdout } = await run('npx', ['--yes', '@redline/lab', '--version'], {
      cwd,
      env: env(),
    });
    assert.match(stdout, /^\d+\.\d+\.\d+/);
    const server =
      "require('node:http').createServer((_, r) => r.end('ok')).listen(process.env.PORT, process.env.HOST)";
    writeFileSync(
      join(cwd, 'redline.config.mjs'),
      `import { defineConfig } from '@redline/lab';
export default defineConfig({
  name: 'bare',
  variants: [{ name: 'now', command: [process.execPath, '-e', ${JSON.stringify(server)}] }],
  load: { connections: 4, turns: false },
  precision: { restarts: 1, blocks: 1, sliceMs: 100, warmupMs: 100, latencyMs: 100 },
});`,
    );
    const bench = await run('npx', ['--yes', '@redline/lab', 'bench'], { cwd, env: env() });
    assert.match(bench.stdout, /now/);
  });

  for (const { what, options } of installs) {
    test(`brings at most ${limits.packages} packages and ${limits.megabytes} MB ${what}, the lint rules among them`, async (t) => {
      const cwd = mkdtempSync(join(folder, 'project '));
      writeFileSync(join(cwd, 'package.json'), '{ "name": "project", "private": true }');
      await run('npm', ['install', ...options, '@redline/lab', '@redline/eslint-plugin'], {
        cwd,
        env: env(),
      });
      const modules = join(cwd, 'node_modules');
      const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
      const packages = Object.keys(lock.packages);
      const files = globSync('**', { cwd: modules }).map((file) => lstatSync(join(modules, file)));
      const megabytes = files.reduce((sum, { blocks }) => sum + blocks * 512, 0) / 1e6;
      t.diagnostic(`${packages.length} packages, ${megabytes.toFixed(1)} MB`);
      assert.ok(packages.includes('node_modules/@redline/eslint-plugin'), packages.join(' '));
      assert.ok(
        packages.length <= limits.packages,
        `${packages.length} packages: ${packages.join(' ')}`,
      );
      assert.equal(packages.includes('node_modules/@redline/http'), options.length === 0);
      assert.ok(megabytes <= limits.megabytes, `${megabytes.toFixed(1)} MB`);
    });
  }
});
