import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** What a folder says of the app in it, without running anything. */
export interface Project {
  folder: string;
  name: string | undefined;
  manager: PackageManager;
  /** e.g. `Nest on Fastify`, or `Nest` where it has both platforms; undefined where none of those that are known is a dependency. */
  framework: string | undefined;
  scripts: Readonly<Record<string, string>>;
  dependencies: ReadonlySet<string>;
  /** What most likely starts the app as production does. */
  start: string[] | undefined;
  /** Folders of the workspaces that hold something to start, relative to `folder`. */
  workspaces: string[];
  hasConfig: boolean;
}

interface PackageJson {
  name?: string;
  main?: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  workspaces?: string[] | { packages?: string[] };
}

/** A build watches nothing and reloads nothing: what production runs comes first. */
const startScripts = ['start:prod', 'start', 'serve', 'dev'];

const lockFiles: readonly [file: string, manager: PackageManager][] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
];

/** Undefined where a folder has no package.json that can be read. */
export function readProject(folder: string): Project | undefined {
  const json = readJson<PackageJson>(join(folder, 'package.json'));
  if (json === undefined) return undefined;
  const scripts = json.scripts ?? {};
  const dependencies = new Set(Object.keys({ ...json.devDependencies, ...json.dependencies }));
  const manager = managerOf(folder);
  return {
    folder,
    name: json.name,
    manager,
    framework: frameworkOf(dependencies),
    scripts,
    dependencies,
    start: startOf(folder, json, manager),
    workspaces: workspacesOf(folder, json),
    hasConfig: ['ts', 'mts', 'js', 'mjs'].some((ending) =>
      existsSync(join(folder, `redline.config.${ending}`)),
    ),
  };
}

/** The script of package.json that a command like `npm run start:prod` runs; undefined where it runs none. */
export function scriptOf(command: readonly string[], project: Project): string | undefined {
  const [program, ...words] = command;
  if (!/^(npm|pnpm|yarn|bun)$/.test(program ?? '')) return undefined;
  const name = words.find((word) => !word.startsWith('-') && !/^run(-script)?$/.test(word));
  return name !== undefined && Object.hasOwn(project.scripts, name) ? name : undefined;
}

/** The lock file of a workspace lies in the root of its monorepo. */
function managerOf(folder: string): PackageManager {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const found = lockFiles.find(([file]) => existsSync(join(at, file)));
    if (found !== undefined) return found[1];
    if (dirname(at) === at || existsSync(join(at, '.git'))) return 'npm';
  }
}

function frameworkOf(dependencies: ReadonlySet<string>): string | undefined {
  if (dependencies.has('@nestjs/core')) {
    const platforms = ['express', 'fastify'].filter((name) =>
      dependencies.has(`@nestjs/platform-${name}`),
    );
    // With both, only the code says which of them.
    if (platforms.length === 2) return 'Nest';
    return platforms[0] === 'fastify' ? 'Nest on Fastify' : 'Nest on Express';
  }
  const known = { fastify: 'Fastify', koa: 'Koa', hono: 'Hono', h3: 'h3', polka: 'Polka' };
  const found = Object.entries(known).find(([name]) => dependencies.has(name));
  return found?.[1] ?? (dependencies.has('express') ? 'Express' : undefined);
}

function startOf(
  folder: string,
  { scripts = {}, main }: PackageJson,
  manager: PackageManager,
): string[] | undefined {
  const script = startScripts.find((name) => Object.hasOwn(scripts, name));
  if (script === 'start') return [manager, 'start'];
  if (script !== undefined) return [manager, 'run', script];
  return main !== undefined && existsSync(join(folder, main)) ? ['node', main] : undefined;
}

function workspacesOf(folder: string, { workspaces }: PackageJson): string[] {
  const patterns = Array.isArray(workspaces) ? workspaces : (workspaces?.packages ?? []);
  const all = [...patterns, ...pnpmPatterns(folder)].filter((each) => !each.startsWith('!'));
  const folders = all.flatMap((pattern) => foldersOf(folder, pattern.replace(/\/\*\*?\/?$/, '/*')));
  return [...new Set(folders)].filter((each) => {
    const json = readJson<PackageJson>(join(folder, each, 'package.json'));
    return startScripts.some((name) => Object.hasOwn(json?.scripts ?? {}, name));
  });
}

/** `packages/*`, or a folder by its name; other patterns are rare, and left out. */
function foldersOf(folder: string, pattern: string): string[] {
  if (!pattern.includes('*')) return [pattern];
  const parent = pattern.slice(0, -'/*'.length);
  if (!pattern.endsWith('/*') || parent.includes('*')) return [];
  try {
    return readdirSync(join(folder, parent)).map((name) => `${parent}/${name}`);
  } catch {
    return [];
  }
}

/** The list under `packages:`, the one thing that is wanted of this YAML. */
function pnpmPatterns(folder: string): string[] {
  const text = readText(join(folder, 'pnpm-workspace.yaml')) ?? '';
  const list = /^packages:\s*\n((?:\s*-.*\n?|\s*#.*\n?|\s*\n)*)/m.exec(text)?.[1] ?? '';
  return [...list.matchAll(/^\s*-\s*['"]?([^'"#\n]+?)['"]?\s*(?:#.*)?$/gm)].map(
    ([, each]) => each!,
  );
}

function readJson<T>(file: string): T | undefined {
  const text = readText(file);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
