import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Manager, managers } from './managers.ts';
import { bareEnvironment, expectNative, serve, writeApp } from './proof-app.ts';
import { ReleaseError, say } from './say.ts';

const run = promisify(execFile);

/** From a warm cache. */
const MOST_SECONDS = 10;

export interface ProofOptions {
  readonly root: string;
  /** Where everything goes that a proof makes. */
  readonly folder: string;
  /** The folder with verdaccio, the package managers and the bundlers. */
  readonly tools: string;
  /** The folder with pip. */
  readonly programs: string;
  readonly registry: string;
  readonly version: string;
}

/** Every package manager installs the packages, without scripts and without a compiler, and the app runs on the engine. */
export async function proveInstall(options: ProofOptions): Promise<void> {
  for (const manager of managers(options.tools)) {
    const { app, env, seconds } = await installWith(manager, options);
    const served = await serve(app, [process.execPath, '--no-warnings', ...manager.flags], env);
    expectNative(served, `The app that ${manager.name} installed`);
    say(`${manager.name}: installed in ${seconds.toFixed(1)} s from a warm cache, on the engine`);
    if (seconds > MOST_SECONDS) {
      const sentence = `${manager.name} took ${seconds.toFixed(1)} s, above ${MOST_SECONDS} s.`;
      throw new ReleaseError(
        `${sentence} Repeat it on an idle machine: npm run release -- install`,
      );
    }
  }
}

/** Installs twice, the second time from a warm cache: that is timed. */
async function installWith(
  manager: Manager,
  { root, folder, registry, version }: ProofOptions,
): Promise<{ app: string; env: NodeJS.ProcessEnv; seconds: number }> {
  const home = join(folder, manager.name.toLowerCase().replaceAll(/\W+/g, '-'));
  const env = bareEnvironment(home);
  const cache = join(home, 'cache');
  mkdirSync(cache, { recursive: true });
  const source = join(root, 'scripts', 'release', 'proof', 'app.mjs');
  let seconds = 0;
  let app = '';
  for (const name of ['cold', 'warm']) {
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
  }
  return { app, env, seconds };
}

/** What npm installs on `platform`: where it is not this one, without the addon of this one. */
export async function installFor(
  platform: { readonly os: string; readonly cpu: string; readonly libc?: string },
  { root, folder, tools, registry, version }: ProofOptions,
): Promise<{ app: string; env: NodeJS.ProcessEnv; natives: readonly string[] }> {
  const npm = managers(tools).find(({ name }) => name === 'npm')!;
  const home = join(folder, `npm-${Object.values(platform).join('-')}`);
  const env = bareEnvironment(home);
  const app = writeApp(
    join(home, 'app'),
    version,
    join(root, 'scripts', 'release', 'proof', 'app.mjs'),
  );
  npm.configure(app, registry, join(folder, 'npm', 'cache'));
  const flags = Object.entries(platform).map(([name, value]) => `--${name}=${value}`);
  await run(process.execPath, [...npm.install, ...flags], { cwd: app, env, timeout: 300_000 });
  const scope = join(app, 'node_modules', '@redline');
  if (!existsSync(join(scope, 'nest')))
    throw new ReleaseError(`npm installed no packages in ${app}.`);
  const natives = readdirSync(scope).filter((name) => name.startsWith('native-'));
  return { app, env, natives };
}
