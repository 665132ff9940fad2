import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** Facts about the app in a folder, found without running anything. */
export interface Project {
  folder: string;
  name: string | undefined;
  manager: PackageManager;
  /** e.g. `Nest on Fastify`, or `Nest` if it has both platforms; undefined if no known framework is a dependency. */
  framework: string | undefined;
  scripts: Readonly<Record<string, string>>;
  dependencies: ReadonlySet<string>;
  /** The command that most likely starts the app as production does. */
  start: string[] | undefined;
  /** Folders of the workspaces that contain something to start, relative to `folder`. */
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

/** Scripts for production come first: a build watches nothing and reloads nothing. */
const startScripts = ['start:prod', 'start', 'serve', 'dev'];

export const lockFiles: readonly [file: string, manager: PackageManager][] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
];

/** Returns undefined if a folder has no package.json that can be read. */
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

/** Returns the script of package.json that a command like `npm run start:prod` runs; undefined if it runs none. */
export function scriptOf(command: readonly string[], project: Project): string | undefined {
  const [program, ...words] = command;
  if (!/^(npm|pnpm|yarn|bun)$/.test(program ?? '')) return undefined;
  const name = words.find((word) => !word.startsWith('-') && !/^run(-script)?$/.test(word));
  return name !== undefined && Object.hasOwn(project.scripts, name) ? name : undefined;
}

/** Searches upwards, because the lock file of a workspace lies in the root of its monorepo. */
function managerOf(folder: string): PackageManager {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const found = lockFiles.find(([file]) => existsSync(join(at, file)));
    if (found !== undefined) return found[1];
    if (dirname(at) === at || existsSync(join(at, '.git'))) return 'npm';
  }
}

/** Names by package. Express comes last, because others are built on it. */
export const frameworks: Readonly<Record<string, string>> = {
  fastify: 'Fastify',
  koa: 'Koa',
  hono: 'Hono',
  h3: 'h3',
  polka: 'Polka',
  express: 'Express',
};

function frameworkOf(dependencies: ReadonlySet<string>): string | undefined {
  if (dependencies.has('@nestjs/core')) {
    const platforms = ['express', 'fastify'].filter((name) =>
      dependencies.has(`@nestjs/platform-${name}`),
    );
    // With both, only the code shows which one is used.
    if (platforms.length === 2) return 'Nest';
    return platforms[0] === 'fastify' ? 'Nest on Fastify' : 'Nest on Express';
  }
  return Object.entries(frameworks).find(([name]) => dependencies.has(name))?.[1];
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

/** Expands `packages/*`, or a folder by its name; other patterns are rare, and left out. */
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

/** Reads the list under `packages:`, the only part of this YAML that is needed. */
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
