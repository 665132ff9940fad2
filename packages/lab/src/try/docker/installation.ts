import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageManager } from '../../project/read-project.ts';
import type { AppFolder } from './app-folder.ts';

/** The installation of an app's packages for Linux. */
export interface Installation {
  /** Package of npm that is the package manager; undefined for npm, which the image has. */
  tool: string | undefined;
  /** Command that installs exactly what the lock file lists, or what package.json allows without one. */
  command: string;
}

/** Returns undefined for an app without packages. */
export function installationOf({ root, manager, lock }: AppFolder): Installation | undefined {
  if (manager === undefined) return undefined;
  const text = lock === undefined ? '' : readText(join(root, lock));
  const tool = toolOf(manager, text, packageManagerOf(root));
  const command = commands[manager](lock !== undefined, tool);
  return { tool, command };
}

/** The app may be started by a tool among its development dependencies, whatever NODE_ENV the image sets. */
const commands: Record<PackageManager, (isLocked: boolean, tool: string | undefined) => string> = {
  npm: (isLocked) =>
    `npm ${isLocked ? 'ci' : 'install'} --include=dev --include=optional --no-audit --no-fund`,
  pnpm: () => 'pnpm install --frozen-lockfile --prod=false',
  yarn: (_, tool) =>
    tool!.startsWith('yarn@1')
      ? 'yarn install --frozen-lockfile --production=false'
      : 'yarn install --immutable',
  bun: () => 'bun install --frozen-lockfile',
};

/** The version is that of package.json, or the newest that reads the lock file as it is. */
function toolOf(
  manager: PackageManager,
  lock: string,
  named: string | undefined,
): string | undefined {
  const version = named?.startsWith(`${manager}@`) ? /@(\d[^+]*)/.exec(named)?.[1] : undefined;
  switch (manager) {
    case 'npm':
      return undefined;
    case 'pnpm': {
      const format = Number(/^lockfileVersion:\s*['"]?(\d+)/m.exec(lock)?.[1] ?? 9);
      return `pnpm@${version ?? (format >= 9 ? 10 : format === 6 ? 8 : 7)}`;
    }
    case 'yarn': {
      const major = Number.parseInt(version ?? (/^__metadata:/m.test(lock) ? '4' : '1'), 10);
      return `${major === 1 ? 'yarn' : '@yarnpkg/cli-dist'}@${version ?? major}`;
    }
    case 'bun':
      return `bun@${version ?? 1}`;
  }
}

function packageManagerOf(root: string): string | undefined {
  try {
    const json = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      packageManager?: unknown;
    };
    return typeof json.packageManager === 'string' ? json.packageManager : undefined;
  } catch {
    return undefined;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
