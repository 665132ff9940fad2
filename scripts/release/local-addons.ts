import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { crates, targets } from '../targets.mjs';
import type { BuiltTarget } from './pack.ts';

/** The platforms whose addons lie beside their native.cjs, built by scripts/build-native.mjs: this machine's, or none. */
export function localAddons(root: string): BuiltTarget[] {
  return targets
    .map((target) => ({
      target,
      addons: Object.fromEntries(
        Object.keys(crates).map((name) => [
          name,
          join(root, 'packages', name, `${name}.${target.name}.node`),
        ]),
      ),
    }))
    .filter(({ addons }) => Object.values(addons).every((file) => existsSync(file)));
}
