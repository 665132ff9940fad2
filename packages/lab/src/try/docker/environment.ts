import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { quotedWord } from '../../config/command-line.ts';
import { LabError } from '../../errors.ts';

const nameOnly = /^[A-Za-z_]\w*$/;

/**
 * Collects the variables of `--env-file` and `--env`. A container has none of those that redline was started with.
 * @param env `NAME=value`, or `NAME` for the value that it has here.
 * @throws {LabError} ERR_REDLINE_OPTION
 */
export function environmentOf(
  env: readonly string[] = [],
  envFiles: readonly string[] = [],
): Record<string, string> {
  const all: Record<string, string | undefined> = {};
  for (const file of envFiles) Object.assign(all, readEnvFile(file));
  for (const each of env) {
    const at = each.indexOf('=');
    const name = at < 0 ? each : each.slice(0, at);
    if (!nameOnly.test(name)) {
      throw new LabError('ERR_REDLINE_OPTION', `--env takes NAME=value or NAME; got "${name}".`);
    }
    const value = at < 0 ? process.env[name] : each.slice(at + 1);
    if (value === undefined) {
      throw new LabError(
        'ERR_REDLINE_OPTION',
        `--env ${name} has no value, and the environment has none for it: give --env ${name}=value.`,
      );
    }
    all[name] = value;
  }
  return all as Record<string, string>;
}

function readEnvFile(file: string): Record<string, string | undefined> {
  let all: Record<string, string | undefined>;
  try {
    all = parseEnv(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--env-file "${file}" cannot be read: ${(cause as Error).message}.`,
      { cause },
    );
  }
  const others = Object.keys(all)
    .filter((name) => !nameOnly.test(name))
    .toSorted();
  if (others.length === 0) return all;
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `--env-file "${file}" sets ${others.join(' and ')}, which no shell of the container can set: a name has letters, digits and _ alone. Remove it, or rename it.`,
  );
}

/** Returns the shell script that sets variables of `environmentOf`. Words of a command line could be read by every user of the machine. */
export function exportsOf(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `export ${name}=${quotedWord(value)}\n`)
    .join('');
}
