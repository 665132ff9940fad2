// Servers packaged by Debian: the installed one, otherwise the package's, unpacked next to the other contenders. Installing
// the package would start a server on this machine, and need root.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const unpacked = join(import.meta.dirname, 'build', 'debian');

/** @returns the program's file, or the reason why it is missing, in one sentence */
export async function obtainFromDebian(
  program: string,
  fromPackage: string,
): Promise<{ file: string } | { missing: string }> {
  const file = find(program);
  if (file !== undefined) return { file };
  try {
    await unpack(fromPackage);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const reason = (stderr || message).trim().split('\n').at(-1);
    return { missing: `there is no ${program}, and apt-get cannot download it: ${reason}` };
  }
  const found = find(program);
  return found === undefined
    ? { missing: `there is no ${program} in the package ${fromPackage}` }
    : { file: found };
}

/** Returns the environment in which an unpacked program finds its libraries. */
export function debianEnv(): Record<string, string> {
  const libraries = join(unpacked, 'usr', 'lib');
  if (!existsSync(libraries)) return {};
  const folders = readdirSync(libraries).map((machine) => join(libraries, machine));
  const all = folders.flatMap((each) => [each, join(each, 'varnish')]).filter(existsSync);
  return { LD_LIBRARY_PATH: all.join(':') };
}

function find(program: string): string | undefined {
  const own = ['usr/sbin', 'usr/bin'].map((each) => join(unpacked, each));
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', ...own];
  return folders.map((each) => join(each, program)).find(existsSync);
}

/** Unpacks a package with its missing dependencies; apt writes only to the folder. */
async function unpack(name: string): Promise<void> {
  const archives = join(unpacked, 'archives', name);
  mkdirSync(join(archives, 'partial'), { recursive: true });
  const options = [`Dir::Cache::archives=${archives}`, 'Debug::NoLocking=true'];
  const words = '--download-only --no-install-recommends --yes --quiet'.split(' ');
  await run('apt-get', ['install', ...words, ...options.flatMap((each) => ['-o', each]), name]);
  for (const file of readdirSync(archives).filter((each) => each.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', join(archives, file), unpacked]);
  }
}
