import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { LabError } from '../errors.ts';
import { buildCallTree } from '../profile/call-tree.ts';
import { checkCpuProfile } from '../profile/cpu-profile.ts';
import { SourceMaps } from '../profile/source-maps.ts';
import type { FlameResult } from './result.ts';
import { summariseProfile } from './summarise-profile.ts';

/**
 * Reads what `redline flame` wrote, or any `.cpuprofile`, which has no load and no tiers.
 * @throws {LabError} ERR_REDLINE_PROFILE
 */
export async function readFlame(file: string): Promise<FlameResult> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'no such file' : 'it is not valid JSON';
    throw new LabError('ERR_REDLINE_PROFILE', `${file} cannot be read: ${reason}.`, { cause });
  }
  const result = value as Partial<FlameResult>;
  if (result.command === 'flame' && Array.isArray(result.tree)) return result as FlameResult;
  const tree = buildCallTree(checkCpuProfile(value, file));
  return {
    schema: 1,
    command: 'flame',
    scenario: basename(file).replaceAll(/[^\w.-]/g, '_'),
    title: basename(file),
    variant: basename(file),
    invocation: '',
    runId: '',
    redlineVersion: '',
    startedAt: new Date().toISOString(),
    sampler: 'file',
    ...summariseProfile(tree, new SourceMaps(), dirname(file)),
    warnings: [],
  };
}
