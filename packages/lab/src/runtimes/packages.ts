import { join } from 'node:path';
import { LabError } from '../errors.ts';
import type { RuntimeKind } from './spec.ts';

/** The npm package that holds the executable of a runtime. */
export interface RuntimePackage {
  name: string;
  /** Path of the executable, relative to the package's root. */
  program: string;
}

const systems = {
  node: { linux: 'linux', darwin: 'darwin', win32: 'win' },
  bun: { linux: 'linux', darwin: 'darwin', win32: 'windows' },
  deno: { linux: 'linux', darwin: 'darwin', win32: 'win32' },
} as const;

/**
 * Returns the package with the executable for this system. These packages hold one prebuilt binary and no install script.
 * @throws {LabError} ERR_REDLINE_RUNTIME if none is published
 */
export function packageOf(
  kind: RuntimeKind,
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): RuntimePackage {
  const system = (systems[kind] as Partial<Record<NodeJS.Platform, string>>)[platform];
  if (system === undefined || (arch !== 'x64' && arch !== 'arm64')) {
    throw new LabError(
      'ERR_REDLINE_RUNTIME',
      `npm has no ${kind} for ${platform} on ${arch}; to compare installed runtimes, use redline bench.`,
    );
  }
  const ending = platform === 'win32' ? '.exe' : '';
  if (kind === 'node') {
    return { name: `node-${system}-${arch}`, program: join('bin', `node${ending}`) };
  }
  if (kind === 'bun') {
    const cpu = arch === 'arm64' ? 'aarch64' : 'x64';
    return { name: `@oven/bun-${system}-${cpu}`, program: join('bin', `bun${ending}`) };
  }
  const libc = platform === 'linux' ? '-glibc' : '';
  return { name: `@deno/${system}-${arch}${libc}`, program: `deno${ending}` };
}
