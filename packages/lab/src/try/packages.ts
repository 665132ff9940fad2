import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LabError } from '../errors.ts';

/** A Redline package that takes effect when it is imported before the app. */
export interface Preload {
  name: '@redline/http' | '@redline/child-process';
  version: string;
  /** The installation that contains it. */
  from: 'app' | 'redline';
  /** File URLs of `name/register` and of the package itself. */
  register: string;
  index: string;
}

/**
 * Finds a package, preferring the app's own copy to the one installed with this package: it is the one the app will run.
 * @param folder Folder of the app.
 * @throws {LabError} ERR_REDLINE_TRY when neither has it
 */
export function findPreload(name: Preload['name'], folder: string): Preload {
  const places = [
    { from: 'app', base: join(folder, 'package.json') },
    { from: 'redline', base: import.meta.url },
  ] as const;
  for (const { from, base } of places) {
    const found = resolveIn(base, name);
    if (found !== undefined) return { name, from, ...found };
  }
  throw new LabError(
    'ERR_REDLINE_TRY',
    `${name} is installed neither in ${folder} nor beside redline; install it with npm install ${name}, then try again.`,
  );
}

function resolveIn(base: string, name: string): Omit<Preload, 'name' | 'from'> | undefined {
  const { resolve } = createRequire(base);
  try {
    const register = resolve(`${name}/register`);
    const index = resolve(name);
    const { version } = JSON.parse(
      readFileSync(join(dirname(dirname(register)), 'package.json'), 'utf8'),
    ) as { version: string };
    return {
      version,
      register: pathToFileURL(register).href,
      index: pathToFileURL(index).href,
    };
  } catch {
    return undefined;
  }
}
