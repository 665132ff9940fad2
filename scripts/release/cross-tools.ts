import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, ReleaseError, run, say } from './say.ts';

/** Zig links for any Linux and includes the symbols of every glibc; both are wheels, for any machine with Python. */
const tools = ['cargo-zigbuild==0.24.0', 'ziglang==0.17.1'];

/** Installs the cross-compilation tools once; returns the folder of their programs. */
export function obtainCrossTools(cache: string): string {
  const folder = join(cache, 'cross');
  const programs = join(folder, 'bin');
  const done = join(folder, tools.join(' '));
  if (existsSync(done)) return programs;
  if (ask('python3', ['--version']) === undefined) {
    throw new ReleaseError(
      'python3 is missing; it brings zig and cargo-zigbuild. Install it first.',
    );
  }
  say(`Installing ${tools.join(' and ')} from PyPI`);
  mkdirSync(cache, { recursive: true });
  try {
    run('python3', ['-m', 'venv', '--clear', folder]);
  } catch (cause) {
    const remedy = 'On Debian: apt-get install python3-venv';
    throw new ReleaseError(`python3 -m venv ${folder} failed. ${remedy}`, { cause });
  }
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check'];
  run(join(programs, 'pip'), ['install', ...quiet, ...tools]);
  writeFileSync(done, '');
  return programs;
}
