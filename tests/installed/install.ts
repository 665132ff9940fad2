import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { localAddons } from '../../scripts/release/local-addons.ts';
import { commonVersion } from '../../scripts/release/pack.ts';
import { writePlatformPackage } from '../../scripts/release/platform-package.ts';
import { crates, type Target } from '../../scripts/targets.mjs';

const root = join(import.meta.dirname, '../..');

/** The addons built on this machine, if they are. */
export const [local] = localAddons(root);

export interface Installed extends Disposable {
  readonly folder: string;
  /** Of the scope, inside node_modules. */
  readonly scope: string;
}

export interface Outcome {
  readonly http: { name: string; reason?: string };
  readonly spawn: { name: string; reason?: string };
  /** What a server answers, and what a child prints. */
  readonly works: readonly [answer: string, output: string];
}

const program = `
import { once } from 'node:events';
import { execFile, engine as spawn } from '@redline/child-process';
import { createServer, engine as http } from '@redline/http';
const server = createServer((request, response) => response.end('answer'));
await once(server.listen(0, '127.0.0.1'), 'listening');
const answer = await (await fetch(\`http://127.0.0.1:\${server.address().port}/\`)).text();
server.closeAllConnections();
server.close();
const output = await new Promise((resolve) => execFile('echo', ['output'], (error, text) => resolve(text)));
console.log(JSON.stringify({ http: http(), spawn: spawn(), works: [answer, output] }));
`;

/** The packages with an addon as npm puts them into an app, and no platform package. */
export function install(prefix = 'redline-installed-'): Installed {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const scope = join(folder, 'node_modules', '@redline');
  for (const name of Object.keys(crates)) copyPackage(name, join(scope, name));
  writeFileSync(join(folder, 'main.mjs'), program);
  return {
    folder,
    scope,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What a tarball holds that matters here. */
export function copyPackage(name: string, to: string): void {
  for (const part of ['dist', 'native.cjs', 'package.json']) {
    cpSync(join(root, 'packages', name, part), join(to, part), { recursive: true });
  }
}

/** Puts a platform package into `scope`, whatever its target, with the addons of this machine; returns its folder. */
export function addPlatform(scope: string, target: Target, version = commonVersion(root)): string {
  const folder = join(scope, `native-${target.name}`);
  writePlatformPackage(folder, { root, target, version, addons: local!.addons, crates: [] });
  return folder;
}

/** Runs an app in the folder that serves a request and starts a child. */
export async function outcomeIn(folder: string, ...args: string[]): Promise<Outcome> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', ...args, 'main.mjs'],
    { cwd: folder, env: { ...process.env, NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined } },
  );
  return JSON.parse(stdout) as Outcome;
}
