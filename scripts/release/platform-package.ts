import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedCrates, type Target } from '../targets.mjs';
import { billOfMaterials } from './bill-of-materials.ts';
import type { CrateInside } from './crates-inside.ts';
import { licenseTexts } from './license-texts.ts';

export interface PlatformPackage {
  readonly root: string;
  readonly target: Target;
  readonly version: string;
  /** The addon files, by the folder of the package that loads each. */
  readonly addons: Readonly<Record<string, string>>;
  /** Third-party crates compiled into them, for the licences and the bill of materials. */
  readonly crates: readonly CrateInside[];
}

/** Writes the package of one platform: the addons, and the data that native.cjs checks before loading one. */
export function writePlatformPackage(
  folder: string,
  { root, target, version, addons, crates: inside }: PlatformPackage,
): void {
  mkdirSync(folder, { recursive: true });
  const names = Object.keys(publishedCrates);
  const bytes: Record<string, number> = {};
  for (const name of names) {
    const from = addons[name];
    if (from === undefined) throw new Error(`${target.package} lacks the addon of ${name}.`);
    copyFileSync(from, join(folder, `${name}.node`));
    bytes[`${name}.node`] = statSync(from).size;
  }
  const libc = target.libc === 'gnu' ? 'glibc' : 'musl';
  const manifest = {
    name: target.package,
    version,
    description: `The addons of @redline/http and @redline/child-process for Linux, ${target.cpu}, ${libc}`,
    homepage: 'https://github.com/redline/redline#readme',
    bugs: { url: 'https://github.com/redline/redline/issues' },
    license: 'MIT',
    repository: {
      type: 'git',
      url: 'git+https://github.com/redline/redline.git',
      directory: 'crates',
    },
    files: ['*.node', 'THIRD-PARTY-LICENSES.txt', 'sbom.cdx.json'],
    type: 'commonjs',
    os: ['linux'],
    cpu: [target.cpu],
    libc: [libc],
    engines: { node: '>=22' },
    publishConfig: { access: 'public' },
    // Yarn would keep it in an archive, from which addons cannot be loaded.
    preferUnplugged: true,
    redline: { bytes },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), readme(manifest.name, manifest.description));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licenseTexts(inside));
  writeFileSync(
    join(folder, 'sbom.cdx.json'),
    billOfMaterials({ name: manifest.name, version }, inside),
  );
}

function readme(name: string, description: string): string {
  return `# ${name}

${description}. Installed by these packages where it fits; nothing imports it by itself. What to do where it is missing:
https://github.com/redline/redline/blob/main/docs/guide/install.md
`;
}
