import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { LabError } from '../../errors.ts';
import { lockFiles, type PackageManager } from '../../project/read-project.ts';

/** The facts about an app that a container needs. */
export interface AppFolder {
  /** The folder that is copied: that of the app, or the root of its monorepo. */
  root: string;
  /** The app in it, with slashes; empty if it is the root itself. */
  below: string;
  /** Manager of its packages; undefined without a package.json. */
  manager: PackageManager | undefined;
  /** Lock file of that manager in the root. */
  lock: string | undefined;
  /** Lock files that belong to none of the known managers, if there is no other. */
  unknownLocks: string[];
}

const anyLock = /(^|[-._])(lock|shrinkwrap)(\.\w+)?$|\.lockb?$/i;

/**
 * Reads an app's folder, which must exist.
 * @throws {LabError} ERR_REDLINE_OPTION for a folder that is far more than an app
 */
export function findAppFolder(cwd: string): AppFolder {
  // A link would be dangling in the copy.
  const folder = realpathSync(cwd);
  const root = rootOf(folder);
  refuseMoreThanAnApp(root);
  const found = lockIn(root);
  const hasPackages = existsSync(join(root, 'package.json'));
  return {
    root,
    below: relative(root, folder).split(sep).join('/'),
    manager: hasPackages ? (found?.[1] ?? 'npm') : undefined,
    lock: found?.[0],
    unknownLocks:
      found === undefined && hasPackages
        ? readdirSync(root).filter((name) => anyLock.test(name))
        : [],
  };
}

function refuseMoreThanAnApp(root: string): void {
  const isRoot = dirname(root) === root;
  if (!isRoot && root !== homeFolder()) return;
  const name = isRoot ? 'the root of this machine' : 'your home folder';
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `--docker copies the whole folder of an app, and ${root} is ${name}: name the folder of the app with --cwd.`,
  );
}

function homeFolder(): string {
  try {
    return realpathSync(homedir());
  } catch {
    return homedir();
  }
}

/** Returns the folder of the nearest package.json, or the monorepo around it that has the lock file. */
function rootOf(folder: string): string {
  const isApp = (at: string): boolean =>
    existsSync(join(at, 'package.json')) || lockIn(at) !== undefined;
  const own = upwards(folder).find(isApp) ?? folder;
  if (lockIn(own) !== undefined) return own;
  return upwards(own).find((at) => lockIn(at) !== undefined && hasWorkspaces(at)) ?? own;
}

/** Lists a folder and those above it, up to the root of its repository, without a home folder, which is never an app. */
function upwards(folder: string): string[] {
  const all = [folder];
  for (let at = folder; dirname(at) !== at && !existsSync(join(at, '.git')); at = dirname(at)) {
    if (dirname(at) !== homeFolder()) all.push(dirname(at));
  }
  return all;
}

function lockIn(folder: string): (typeof lockFiles)[number] | undefined {
  return lockFiles.find(([file]) => existsSync(join(folder, file)));
}

function hasWorkspaces(folder: string): boolean {
  if (existsSync(join(folder, 'pnpm-workspace.yaml'))) return true;
  try {
    const json: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof json === 'object' && json !== null && 'workspaces' in json;
  } catch {
    return false;
  }
}
