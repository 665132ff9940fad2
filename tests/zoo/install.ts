// The packages of a group, installed once for its lock: outside of the repository, whose own packages would be found otherwise.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const groups = join(import.meta.dirname, 'groups');
const cache = join(process.env['REDLINE_CACHE'] ?? join(homedir(), '.cache/redline'), 'zoo');

/** @returns its node_modules */
export function installGroup(name: string): string {
  const lock = readFileSync(join(groups, name, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const folder = join(cache, `${name}-${hash}`);
  const modules = join(folder, 'node_modules');
  if (existsSync(modules)) return modules;
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) {
    cpSync(join(groups, name, file), join(partial, file));
  }
  process.stderr.write(`Installing the group ${name}\n`);
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', words, { cwd: partial, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    rmSync(partial, { recursive: true, force: true });
    throw new Error(`npm ci of the group ${name} ended with exit status ${status}`);
  }
  mkdirSync(dirname(folder), { recursive: true });
  renameSync(partial, folder);
  return modules;
}
