// A repository with a planted change, for the proofs that judge one.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The server with the change. */
export const twinApp = 'twin-app.mjs';
/** The server, and what it imports. */
const files = [twinApp, 'spin.mjs'];

/** Creates two commits of the twin server: the second makes a request take this share of CPU more, or changes nothing. */
export function plantedRepository(path: string, share: number): string {
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=proof', '-c', 'user.email=proof@localhost'];
    execFileSync('git', ['-C', path, ...who, ...args], { stdio: 'ignore' });
  };
  execFileSync('git', ['init', '--quiet', path]);
  for (const name of files) {
    copyFileSync(join(import.meta.dirname, 'proofs', name), join(path, name));
  }
  git('add', '.');
  git('commit', '-m', 'base');
  const app = readFileSync(join(path, twinApp), 'utf8');
  const changed = app.replace('process.env.SLOWER ?? 0)', `process.env.SLOWER ?? ${share})`);
  if (changed === app && share > 0) {
    throw new Error('The twin does not read SLOWER as this proof expects.');
  }
  writeFileSync(join(path, twinApp), share === 0 ? `${app}\n` : changed);
  git('commit', '-am', 'present');
  return path;
}
