// Commands that install tarballs in a project. npm installs packages that depend on each other together; pnpm, Yarn and Bun
// ask the registry, unless the project maps each package to a tarball.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf } from './pack.ts';

const overridesFile = 'pnpm-overrides.yaml';
const resolutionsFile = 'resolutions.txt';
/** Files read by the commands, besides the tarballs. */
export const settingsFiles: readonly string[] = [overridesFile, resolutionsFile];

export interface InstallLines {
  readonly manager: string;
  readonly lines: readonly string[];
}

export interface InstallOptions {
  readonly tarballs: readonly string[];
  /** Folder for the files read by the commands. */
  readonly into: string;
  /** Packages that the project itself imports or runs, such as @redline/http. */
  readonly wanted: readonly string[];
}

interface Tarball {
  readonly file: string;
  readonly asksFor: readonly string[];
}

export function installLines({ tarballs, into, wanted }: InstallOptions): InstallLines[] {
  const byName = new Map(tarballs.map((file) => [manifestOf(file).name, tarballAt(file)]));
  const overrides = join(into, overridesFile);
  const resolutions = join(into, resolutionsFile);
  writeFileSync(overrides, pnpmOverrides(byName));
  writeFileSync(resolutions, yarnResolutions(byName));
  const files = wanted.map((name) => quoted(byName.get(name)!.file)).join(' ');
  const together = [...withSiblings(wanted, byName)]
    .map((name) => quoted(byName.get(name)!.file))
    .join(' ');
  const resolve = `xargs npm pkg set < ${quoted(resolutions)}`;
  return [
    { manager: 'npm', lines: [`npm install ${together}`] },
    {
      manager: 'pnpm',
      lines: [`cat ${quoted(overrides)} >> pnpm-workspace.yaml`, `pnpm add ${files}`],
    },
    { manager: 'Yarn', lines: [resolve, `yarn add ${files}`] },
    { manager: 'Bun', lines: [resolve, `bun add ${files}`] },
  ];
}

function tarballAt(file: string): Tarball {
  const { dependencies, optionalDependencies } = manifestOf(file);
  return { file, asksFor: Object.keys({ ...dependencies, ...optionalDependencies }) };
}

function withSiblings(
  wanted: readonly string[],
  byName: ReadonlyMap<string, Tarball>,
): ReadonlySet<string> {
  // Iteration over a set includes the entries added meanwhile.
  const found = new Set(wanted);
  for (const name of found) {
    for (const each of byName.get(name)!.asksFor) if (byName.has(each)) found.add(each);
  }
  return found;
}

/** For appending: if the file already has `overrides`, pnpm fails with "duplicate mapping key", and no settings are lost. */
function pnpmOverrides(byName: ReadonlyMap<string, Tarball>): string {
  const lines = [...byName].map(
    ([name, { file }]) => `  ${JSON.stringify(name)}: ${JSON.stringify(`file:${file}`)}\n`,
  );
  return `\noverrides:\n${lines.join('')}`;
}

/** Arguments of `npm pkg set`, which keeps existing resolutions of package.json; in double quotes for xargs. */
function yarnResolutions(byName: ReadonlyMap<string, Tarball>): string {
  return [...byName].map(([name, { file }]) => `"resolutions[${name}]=file:${file}"\n`).join('');
}

/** Quotes a path for a shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
