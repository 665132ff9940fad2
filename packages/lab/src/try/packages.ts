import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LabError } from '../errors.ts';

/** A package of ours that takes effect when it is imported before the app. */
export interface Preload {
  name: '@redline/http' | '@redline/child-process';
  version: string;
  /** Whose installation it is. */
  from: 'app' | 'redline';
  /** URLs of files: `name/register`, and the package itself. */
  register: string;
  index: string;
}

/**
 * The app's own copy counts before the one beside this package: that is what it will run.
 * @param folder Of the app.
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
