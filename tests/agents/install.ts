import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;

/** Installs the agents and frameworks beside this file, where they are not. Returns why that was not possible. */
export function installAgents(): string | undefined {
  if (isInstalled()) return undefined;
  console.log('agents: installing them, some 430 MB');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  if (status === 0) return undefined;
  return stderr.split('\n').find((line) => line.startsWith('npm error')) ?? 'npm failed';
}

/** npm writes its own lock file last. */
function isInstalled(): boolean {
  const installed = statSync(join(folder, 'node_modules/.package-lock.json'), {
    throwIfNoEntry: false,
  });
  return (
    installed !== undefined &&
    installed.mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs
  );
}
