import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ReleaseError } from './say.ts';

/** Output of the app of the proofs. */
export interface Served {
  readonly node: string;
  readonly arch: string;
  readonly engine: { readonly name: string; readonly reason?: string };
  readonly spawn: { readonly name: string; readonly reason?: string };
  readonly status: number;
  readonly answer: string;
  /** Output of a child. */
  readonly output: string;
  /** Lines that RedlineFactory wrote to Nest's log. */
  readonly lines: readonly string[];
}

const peers = {
  '@nestjs/common': '^12.5.0',
  '@nestjs/core': '^12.5.0',
  '@nestjs/platform-fastify': '^12.5.0',
  fastify: '^5.12.8',
  pino: '^10.4.0',
  'reflect-metadata': '^0.2.2',
  rxjs: '^7.8.2',
};

/** Creates an empty folder with an app that depends on `version` of the packages, and on `more`. */
export function writeApp(
  folder: string,
  version: string,
  source: string,
  more: Readonly<Record<string, string>> = {},
): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const ours = { '@redline/child-process': version, '@redline/nest': version };
  const dependencies = { ...peers, ...more, ...ours };
  const manifest = { name: 'app', private: true, type: 'module', dependencies };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  copyFileSync(source, join(folder, 'app.mjs'));
  return folder;
}

/** Returns an environment with node only: without a compiler or this machine's configuration. */
export function bareEnvironment(folder: string): NodeJS.ProcessEnv {
  const programs = join(folder, 'bin');
  const home = join(folder, 'home');
  mkdirSync(programs, { recursive: true });
  mkdirSync(home, { recursive: true });
  rmSync(join(programs, 'node'), { force: true });
  symlinkSync(process.execPath, join(programs, 'node'));
  return { PATH: programs, HOME: home, NO_COLOR: '1', CI: '1' };
}

/** Runs the app and returns its output. */
export async function serve(
  folder: string,
  program: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Served> {
  const [file, ...args] = [...program, 'app.mjs'];
  const { stdout } = await promisify(execFile)(file!, args, { cwd: folder, env, timeout: 120_000 });
  return JSON.parse(stdout) as Served;
}

/**
 * @param isEmulated under emulation, a child cannot borrow the memory of its parent: Node starts it
 * @throws {ReleaseError} unless the engines have served the requests and started the child, and Nest's log says so once.
 */
export function expectNative(served: Served, where: string, isEmulated = false): void {
  const { engine, spawn, status, answer, output, lines } = served;
  const isRight =
    engine.name === 'native' &&
    spawn.name === (isEmulated ? 'node' : 'native') &&
    status === 200 &&
    answer === '{"hello":"world"}' &&
    output === 'a child\n' &&
    lines.join() === 'RedlineFactory: HTTP is served by the native engine.';
  if (!isRight) {
    throw new ReleaseError(`${where} did not serve on the engine: ${JSON.stringify(served)}`);
  }
}
