import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../services/src/free-port.ts';
import { readManifest } from './pack.ts';
import { ask, ReleaseError, run, say } from './say.ts';

export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Path of an npmrc with its address. */
  readonly npmrc: string;
}

/**
 * Starts a registry on loopback with the tarballs; other packages come from the registry that npm is configured for.
 *
 * @param tools the folder with verdaccio
 * @param folder for its storage; third-party packages stay there for the next time
 */
export async function startRegistry(
  tarballs: readonly string[],
  tools: string,
  folder: string,
): Promise<Registry> {
  const upstream = ask('npm', ['config', 'get', 'registry']);
  if (upstream === undefined) throw new ReleaseError('npm is not on the PATH, or does not run.');
  const url = `http://127.0.0.1:${await freePort()}`;
  const config = join(folder, 'config.yaml');
  // Earlier packages may have the same version.
  rmSync(join(folder, 'storage', '@redline'), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(config, configuration(upstream));
  const cli = join(tools, 'node_modules', 'verdaccio', 'bin', 'verdaccio');
  const server = spawn(
    process.execPath,
    ['--no-warnings', cli, '--config', config, '--listen', url],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  // Killed at any exit of this process, the only one that knows it.
  const kill = (): unknown => server.kill();
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill();
    await once(server, 'exit');
  };
  try {
    await untilItAnswers(url, () => server.exitCode !== null);
    const npmrc = join(folder, 'npmrc');
    // Publishing needs no login there, but npm refuses to try without a token.
    writeFileSync(npmrc, `registry=${url}\n//${new URL(url).host}/:_authToken=none\n`);
    say(`Publishing ${tarballs.length} packages to ${url}`);
    for (const tarball of tarballs) {
      const flags = ['--userconfig', npmrc, '--no-provenance', '--no-update-notifier'];
      run('npm', ['publish', tarball, '--loglevel=error', ...flags], { cwd: folder });
    }
    return { url, npmrc, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration(upstream: string): string {
  return `storage: ./storage
uplinks:
  npm:
    url: ${upstream}
    maxage: 1d
    timeout: 60s
packages:
  '@redline/*':
    access: $all
    publish: $all
  '**':
    access: $all
    proxy: npm
max_body_size: 100mb
log: { type: stdout, level: error }
`;
}

async function untilItAnswers(url: string, hasEnded: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600 && !hasEnded(); tries++) {
    const isUp = await fetch(`${url}/-/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await setTimeout(100);
  }
  throw new ReleaseError('verdaccio did not start; its messages are above.');
}

/**
 * Installs verdaccio, the package managers and changesets, or the bundlers, by their own lock file; returns their folder.
 * `npm ci` is not used, because it fails if a mirror lacks the binaries of other platforms. The package that verdaccio
 * requires by a tag has its version in `overrides`: many mirrors have no tags but `latest`.
 */
export function obtainTools(root: string, name: 'tools' | 'bundlers' = 'tools'): string {
  const folder = join(root, 'scripts', 'release', name);
  if (hasDependencies(folder)) return folder;
  const { dependencies = {} } = readManifest(folder);
  say(`Installing ${Object.keys(dependencies).join(', ')}`);
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['install', ...flags], { cwd: folder });
  return folder;
}

/** An earlier checkout may have installed other tools. */
function hasDependencies(folder: string): boolean {
  const { dependencies = {} } = readManifest(folder);
  return Object.entries(dependencies).every(([name, version]) => {
    const installed = join(folder, 'node_modules', name);
    return (
      existsSync(join(installed, 'package.json')) && readManifest(installed).version === version
    );
  });
}
