import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { git } from './git.ts';

/** The code of a folder: two equal states are the same code, apart from files that git ignores. */
export interface TreeState {
  /** The root of its repository, relative to the folder of the config; the folder itself outside a repository. */
  folder: string;
  /** Empty outside a repository, and in one without a commit. */
  commit: string;
  /** Digest of the files that differ from the commit, and of those that git neither tracks nor ignores. */
  changes: string;
}

/** Contents of larger files are compared by size and time: they are data, and reading them delays a run. */
const maxReadBytes = 64 * 2 ** 20;

/**
 * Reads the state of each repository that the folders are in.
 * @param own Files and folders that redline writes, as absolute paths; they are not compared.
 */
export async function treeStatesOf(
  folders: readonly string[],
  { base, own }: { base: string; own: readonly string[] },
): Promise<TreeState[]> {
  const roots = new Set<string>();
  for (const folder of new Set(folders)) roots.add((await rootOf(folder)) ?? folder);
  const states = [...roots].map(async (root) => ({
    folder: relative(base, root).split(sep).join('/') || '.',
    ...(await stateOf(root, own)),
  }));
  return await Promise.all(states);
}

async function rootOf(folder: string): Promise<string | undefined> {
  return await git(['rev-parse', '--show-toplevel'], { cwd: folder }).catch(() => undefined);
}

async function stateOf(root: string, own: readonly string[]): Promise<Omit<TreeState, 'folder'>> {
  const commit = await git(['rev-parse', '--verify', 'HEAD'], { cwd: root }).catch(() => '');
  if (commit === '') return { commit, changes: '' };
  const changed = ['diff', 'HEAD', '--name-only', '--no-renames', '--ignore-submodules=none', '-z'];
  const untracked = ['ls-files', '--others', '--exclude-standard', '-z'];
  const listed = await Promise.all([changed, untracked].map((args) => git(args, { cwd: root })));
  const names = new Set(listed.flatMap((list) => list.split('\0').filter(Boolean)));
  const hash = createHash('sha256');
  for (const name of [...names].toSorted()) {
    const file = join(root, name);
    if (own.some((each) => file === each || file.startsWith(`${each}${sep}`))) continue;
    hash.update(`${name}\0`);
    await addFile(hash, file, own);
  }
  return { commit, changes: hash.digest('hex').slice(0, 16) };
}

async function addFile(hash: Hash, file: string, own: readonly string[]): Promise<void> {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return void hash.update('deleted\0');
  hash.update(`${stats.mode} `);
  if (stats.isSymbolicLink()) return void hash.update(`${readlinkSync(file)}\0`);
  if (stats.isDirectory()) {
    // A repository in this one; the folder of a submodule that is not there is a part of this one.
    if (existsSync(join(file, '.git'))) hash.update(JSON.stringify(await stateOf(file, own)));
    return;
  }
  hash.update(`${stats.size}\0`);
  if (!stats.isFile() || stats.size > maxReadBytes) return void hash.update(`${stats.mtimeMs}\0`);
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  } catch {
    hash.update(`${stats.mtimeMs}\0`);
  }
}
