import { existsSync, realpathSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { LabError } from '../errors.ts';
import type { CommandLine } from '../config/command-line.ts';
import { readProject } from '../project/read-project.ts';
import { runToEnd } from '../system/run-to-end.ts';
import { git } from './git.ts';
import { installInto } from './install.ts';

/** One revision of a repository, checked out separately and built. */
export interface Tree {
  /** e.g. `origin/main (1a2b3c4)` */
  name: string;
  path: string;
}

export interface TreeOptions {
  /** Folder of the app in the repository. */
  folder: string;
  base: string;
  /** Command that builds a tree; undefined for the build script of its package.json, if it has one. */
  build: CommandLine | 'none' | undefined;
  signal: AbortSignal;
  phase(text: string): void;
}

/** The base and the present state of a repository side by side, as worktrees that are removed on disposal. */
export class Trees implements AsyncDisposable {
  readonly base: Tree;
  readonly present: Tree;
  readonly #root: string;
  readonly #parent: string;
  readonly #options: TreeOptions;
  /** Commit of the present tree: later commits are in none of the trees. */
  readonly #commit: string;

  private constructor(
    options: TreeOptions,
    { root, parent }: { root: string; parent: string },
    { commit, ...names }: { base: string; present: string; commit: string },
  ) {
    this.#options = options;
    this.#commit = commit;
    this.#root = root;
    this.#parent = parent;
    this.base = { name: names.base, path: join(parent, 'base') };
    this.present = { name: names.present, path: join(parent, 'present') };
  }

  /** @throws {LabError} ERR_REDLINE_GIT, ERR_REDLINE_COMMAND; nothing is left on disk then */
  static async prepare(options: TreeOptions): Promise<Trees> {
    const { folder, base, phase } = options;
    const root = realpathSync(await git(['rev-parse', '--show-toplevel'], { cwd: folder }));
    await refuseChanges(root);
    const [of, now] = await Promise.all([revision(base, root), revision('HEAD', root)]);
    const branch = await git(['rev-parse', '--abbrev-ref', 'HEAD'], { cwd: root });
    const parent = realpathSync(await mkdtemp(join(tmpdir(), 'redline-trees-')));
    const trees = new Trees(
      options,
      { root, parent },
      {
        base: `${base} (${of.slice(0, 7)})`,
        present: `${branch === base ? 'HEAD' : branch} (${now.slice(0, 7)})`,
        commit: now,
      },
    );
    try {
      await trees.#checkOut(trees.base, of, phase);
      await trees.#checkOut(trees.present, now, phase);
      return trees;
    } catch (error) {
      await trees[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Adds another tree of the present state, built unchanged.
   * @param name Unique name of its folder.
   * @throws {LabError} ERR_REDLINE_GIT, ERR_REDLINE_COMMAND; nothing of it is left on disk then
   */
  async add(name: string, phase: TreeOptions['phase']): Promise<Tree> {
    const tree = { name, path: join(this.#parent, name) };
    try {
      await this.#checkOut(tree, this.#commit, phase);
      return tree;
    } catch (error) {
      await rm(tree.path, { recursive: true, force: true });
      throw error;
    }
  }

  async #checkOut(tree: Tree, commit: string, phase: TreeOptions['phase']): Promise<void> {
    const { folder, signal } = this.#options;
    signal.throwIfAborted();
    phase(`checking out ${tree.name}`);
    const added = ['worktree', 'add', '--detach', '--force', tree.path, commit];
    await git(added, { cwd: this.#root, signal });
    phase(`installing ${tree.name}`);
    const inTree = relative(this.#root, realpathSync(folder));
    await installInto(tree.path, { root: this.#root, folder: inTree, signal });
    await build(join(tree.path, inTree), tree.name, { ...this.#options, phase });
  }

  /** Maps a path inside the repository to the same path in a tree; returns any other text unchanged. */
  inTree(tree: Tree, path: string): string {
    if (!isAbsolute(path) || !existsSync(path)) return path;
    // Git resolves links in the folder's path, so it is resolved here too; a program that is a link stays one.
    const real = statSync(path).isDirectory()
      ? realpathSync(path)
      : join(realpathSync(dirname(path)), basename(path));
    const below = relative(this.#root, real);
    return below.startsWith('..') ? path : join(tree.path, below);
  }

  /** Rebuilds a tree whose files were changed. */
  rebuild(
    tree: Tree,
    folder: string,
    { build: asked, context }: { build: TreeOptions['build']; context: { signal: AbortSignal } },
  ): Promise<void> {
    return build(folder, tree.name, { build: asked, signal: context.signal, phase: () => {} });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#parent, { recursive: true, force: true });
    // Their folders are gone, so git can prune them.
    await git(['worktree', 'prune'], { cwd: this.#root }).catch(() => {});
  }
}

async function build(
  folder: string,
  name: string,
  { build: asked, signal, phase }: Pick<TreeOptions, 'build' | 'signal' | 'phase'>,
): Promise<void> {
  const command = asked ?? buildScript(folder);
  if (command === undefined || command === 'none') return;
  phase(`building ${name}`);
  await runToEnd(command, { asked: `The build of ${name},`, cwd: folder, signal });
}

function buildScript(folder: string): CommandLine | undefined {
  const project = readProject(folder);
  return project?.scripts['build'] === undefined
    ? undefined
    : { command: [project.manager, 'run', 'build'], env: {} };
}

async function revision(ref: string, root: string): Promise<string> {
  try {
    return await git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], { cwd: root });
  } catch (cause) {
    throw new LabError(
      'ERR_REDLINE_GIT',
      `"${ref}" is not a revision of this repository; a shallow clone lacks most: git fetch origin ${ref.replace(/^origin\//, '')}`,
      { cause },
    );
  }
}

/**
 * Checks early for commands that make trees later.
 * @throws {LabError} ERR_REDLINE_GIT if a folder is in no repository, or has uncommitted changes
 */
export async function requireCommitted(folder: string): Promise<void> {
  await refuseChanges(await git(['rev-parse', '--show-toplevel'], { cwd: folder }));
}

/** Refuses uncommitted changes, which would be in neither tree. */
async function refuseChanges(root: string): Promise<void> {
  const changed = await git(['status', '--porcelain', '--untracked-files=no'], { cwd: root });
  if (changed === '') return;
  const files = changed.split('\n').map((line) => line.slice(3));
  const some = files.slice(0, 3).join(', ');
  const more = files.length > 3 ? ` and ${files.length - 3} more` : '';
  throw new LabError(
    'ERR_REDLINE_GIT',
    `${some}${more} changed since the last commit, and trees are made of commits: commit or stash first.`,
  );
}
