import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const folder = join(import.meta.dirname, 'entries');

export interface Entry {
  readonly name: string;
  /** Folder with the files that the board takes. */
  readonly folder: string;
}

export const entries: readonly Entry[] = readdirSync(folder)
  .toSorted()
  .map((name) => ({ name, folder: join(folder, name) }));

/** @throws {Error} if no entry has that name */
export function entriesNamed(names: readonly string[]): readonly Entry[] {
  if (names.length === 0) return entries;
  return names.map((name) => {
    const entry = entries.find((each) => each.name === name);
    if (entry !== undefined) return entry;
    const known = entries.map((each) => each.name).join(', ');
    throw new Error(`Unknown entry ${name}; known are ${known}.`);
  });
}

/**
 * Returns the folder from which an entry runs on this machine, with the packages of this repository; compiled first if its
 * image does so.
 */
export function programsOf({ name, folder: source }: Entry): string {
  if (!existsSync(join(source, 'tsconfig.json'))) return source;
  const built = join(root, 'redline-out', 'arena', 'built', name);
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  execFileSync(compiler, ['--project', source, '--outDir', built], { stdio: 'inherit' });
  return built;
}
