import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from '../system/run-to-end.ts';
import { git } from './git.ts';

/** Lock files, each with the command that installs exactly the locked versions. */
const installs: readonly [file: string, command: readonly string[]][] = [
  ['package-lock.json', ['npm', 'ci', '--no-audit', '--no-fund']],
  ['npm-shrinkwrap.json', ['npm', 'ci', '--no-audit', '--no-fund']],
  ['pnpm-lock.yaml', ['pnpm', 'install', '--frozen-lockfile']],
  ['yarn.lock', ['yarn', 'install', '--frozen-lockfile']],
  ['bun.lock', ['bun', 'install', '--frozen-lockfile']],
];

/**
 * Gives a tree its dependencies: those of the repository if both have the same lock file, otherwise its own installation.
 * @param root Root of the repository, whose dependency folders are linked.
 * @param folder Folder of the app relative to the root: its lock file may lie there.
 */
export async function installInto(
  tree: string,
  { root, folder, signal }: { root: string; folder: string; signal: AbortSignal },
): Promise<void> {
  const places = [...new Set([folder, ''])];
  const place = places.find((each) => lockIn(join(tree, each)) !== undefined);
  const [file, command] = (place === undefined ? undefined : lockIn(join(tree, place))) ?? [];
  const isSame = file === undefined || sameFile(join(root, place!, file), join(tree, place!, file));
  const modules = isSame ? await moduleFolders(root) : [];
  for (const each of modules) linkFolder(join(root, each), join(tree, each));
  if (modules.length > 0 || command === undefined) return;
  await runToEnd(
    { command, env: {} },
    { asked: 'The installation', cwd: join(tree, place!), signal },
  );
}

function lockIn(folder: string): (typeof installs)[number] | undefined {
  return installs.find(([file]) => existsSync(join(folder, file)));
}

function sameFile(one: string, other: string): boolean {
  return existsSync(one) && readFileSync(one).equals(readFileSync(other));
}

/** Finds the node_modules of the root and of its workspaces, which git ignores. */
async function moduleFolders(root: string): Promise<string[]> {
  const ignored = await git(
    ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory'],
    { cwd: root },
  );
  const found = ignored.split('\n').filter((each) => /(^|\/)node_modules\/?$/.test(each));
  // A repository that does not ignore node_modules still has it.
  const all = existsSync(join(root, 'node_modules')) ? [...found, 'node_modules'] : found;
  return [...new Set(all.map((each) => each.replace(/\/$/, '')))];
}

/** Folders that tools write into node_modules while they run: if shared, one tree would change the other's. */
const own = new Set(['.cache', '.vite', '.vite-temp']);

/** Duplicates a folder with hard links, or with copies if the target is on another disk. Links between packages are kept. */
function linkFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (own.has(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isFile()) linkFile(source, target);
  }
}

function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
}
