import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Manager, managers } from './managers.ts';
import { bareEnvironment, expectNative, serve, writeApp } from './proof-app.ts';
import { ReleaseError, say } from './say.ts';

const run = promisify(execFile);

/** Max seconds of an installation from a warm cache. */
const MAX_SECONDS = 10;
/** Max number of warm installations per manager, since other load on the machine only makes them slower. */
const TRIES = 3;

export interface ProofOptions {
  readonly root: string;
  /** Folder for everything that a proof creates. */
  readonly folder: string;
  /** The folder with verdaccio and the package managers. */
  readonly tools: string;
  /** The folder with pip. */
  readonly programs: string;
  readonly registry: string;
  readonly version: string;
}

/** Has every package manager install the packages, without scripts and without a compiler, and runs the app on the engine. */
export async function proveInstall(options: ProofOptions): Promise<void> {
  const slow: string[] = [];
  for (const manager of managers(options.tools)) {
    const { app, env, seconds } = await installWith(manager, options);
    const served = await serve(app, [process.execPath, '--no-warnings', ...manager.flags], env);
    expectNative(served, `The app that ${manager.name} installed`);
    say(`${manager.name}: installed in ${seconds.toFixed(1)} s from a warm cache, on the engine`);
    if (seconds > MAX_SECONDS) slow.push(`${manager.name} took ${seconds.toFixed(1)} s`);
  }
  if (slow.length > 0) {
    throw new ReleaseError(`An installation may take ${MAX_SECONDS} s: ${slow.join(', ')}.`);
  }
}

/** Installs with an empty cache, then from a warm one, repeatedly while it takes too long; the last time counts. */
async function installWith(
  manager: Manager,
  { root, folder, registry, version }: ProofOptions,
): Promise<{ app: string; env: NodeJS.ProcessEnv; seconds: number }> {
  const home = join(folder, manager.name.toLowerCase().replaceAll(/\W+/g, '-'));
  // The cache of an earlier run has the same versions with other contents.
  rmSync(home, { recursive: true, force: true });
  const env = bareEnvironment(home);
  const cache = join(home, 'cache');
  mkdirSync(cache, { recursive: true });
  const source = join(root, 'scripts', 'release', 'proof', 'app.mjs');
  let seconds = 0;
  let app = '';
  for (const name of ['cold', ...Array.from({ length: TRIES }, (_, i) => `warm-${i}`)]) {
    app = writeApp(join(home, name), version, source);
    manager.configure(app, registry, cache);
    const startedAt = performance.now();
    try {
      await run(process.execPath, [...manager.install], { cwd: app, env, timeout: 300_000 });
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new ReleaseError(`${manager.name} failed:\n${stdout}${stderr}`, { cause: error });
    }
    seconds = (performance.now() - startedAt) / 1_000;
    if (name !== 'cold' && seconds <= MAX_SECONDS) break;
  }
  return { app, env, seconds };
}

export interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc?: string;
}

export interface App {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The installed platform packages. */
  readonly natives: readonly string[];
}

/** Creates an app with the packages that npm installs on `platform`. @param more other packages that it depends on */
export async function installFor(
  platform: Platform,
  options: ProofOptions,
  more: Readonly<Record<string, string>> = {},
): Promise<App> {
  const home = join(options.folder, `npm-${Object.values(platform).join('-')}`);
  const source = join(options.root, 'scripts', 'release', 'proof', 'app.mjs');
  const folder = writeApp(join(home, 'app'), options.version, source, more);
  const env = bareEnvironment(home);
  return installInto(folder, env, platform, options, npmOf(options).install);
}

/** Installs from the app's lock file, like `npm ci` on `platform`. */
export async function installLocked(
  { folder, env }: App,
  platform: Platform,
  options: ProofOptions,
): Promise<App> {
  const [cli, , ...flags] = npmOf(options).install;
  return installInto(folder, env, platform, options, [cli!, 'ci', ...flags]);
}

async function installInto(
  folder: string,
  env: NodeJS.ProcessEnv,
  platform: Platform,
  options: ProofOptions,
  command: readonly string[],
): Promise<App> {
  npmOf(options).configure(folder, options.registry, join(options.folder, 'npm', 'cache'));
  const flags = Object.entries(platform).map(([name, value]) => `--${name}=${value}`);
  await run(process.execPath, [...command, ...flags], { cwd: folder, env, timeout: 300_000 });
  const scope = join(folder, 'node_modules', '@redline');
  if (!existsSync(join(scope, 'nest'))) {
    throw new ReleaseError(`npm installed no packages in ${folder}.`);
  }
  const natives = readdirSync(scope).filter((name) => name.startsWith('native-'));
  return { folder, env, natives };
}

function npmOf({ tools }: ProofOptions): Manager {
  return managers(tools).find(({ name }) => name === 'npm')!;
}
