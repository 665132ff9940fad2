import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { publishedCrates, targets } from '../targets.mjs';
import type { BuiltTarget } from './pack.ts';
import { thisLibc } from './this-libc.ts';

/**
 * Finds the addons that scripts/build-native.mjs has built for this machine, next to each native.cjs: for one platform, or
 * none.
 */
export function localAddons(root: string): BuiltTarget[] {
  const libc = thisLibc() === 'glibc' ? 'gnu' : 'musl';
  return targets
    .filter((target) => target.cpu === process.arch && target.libc === libc)
    .map((target) => ({
      target,
      addons: Object.fromEntries(
        Object.keys(publishedCrates).map((name) => [
          name,
          join(root, 'packages', name, `${name}.${target.name}.node`),
        ]),
      ),
    }))
    .filter(({ addons }) => Object.values(addons).every((file) => existsSync(file)));
}
