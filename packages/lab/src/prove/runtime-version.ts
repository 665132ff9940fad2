import { execFileSync } from 'node:child_process';
import type { Runtime } from '../runtimes/cache.ts';

/** The Node that runs this process. */
export const nodeInUse: Runtime = {
  kind: 'node',
  version: process.versions.node,
  file: process.execPath,
};

export function majorOfVersion(version: string): number {
  return Number(version.split('.', 1)[0]);
}

export function v8Of(runtime: Runtime): string {
  if (runtime.file === process.execPath) return process.versions.v8;
  return execFileSync(runtime.file, ['-p', 'process.versions.v8'], { encoding: 'utf8' }).trim();
}
