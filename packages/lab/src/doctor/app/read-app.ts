import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import type { CommandLine } from '../../config/command-line.ts';
import { type Project, readProject } from '../../project/read-project.ts';
import { argumentsOf, at, bare, nameOf, type Node, propertyOf, stringOf } from '../syntax/node.ts';
import { resolveOnDisk } from '../syntax/files.ts';
import { Modules } from '../syntax/modules.ts';
import { RequestPath } from '../syntax/request-path.ts';
import { SourceFile } from '../syntax/source-file.ts';
import type { App, TextFile } from './app.ts';
import { entryOf, nodeStart } from './start-of.ts';

const isSource = /\.[mc]?[jt]s$/;
const isBeside = /(\.d\.[mc]?ts|[.-](test|spec|e2e-spec|config|stories|bench)\.[mc]?[jt]s)$/;
/** What a server does not run. */
const skippedFolders =
  /^(node_modules|dist|build|out|coverage|public|static|assets|vendor|tests?|__tests__|__mocks__|spec|e2e|cypress|fixtures|mocks|migrations|seeds|seeders|scripts|bench|benchmarks?|docs|\..*)$/;
const mostFiles = 3_000;
/** A file beyond it was generated or bundled. */
const mostBytes = 500_000;
const textNames = ['.nvmrc', '.node-version', 'Dockerfile'];

/** Reads the app of a folder without running anything of it. */
export function readApp(folder: string, typed: CommandLine | undefined): App {
  const project = readProject(folder);
  const start = nodeStart(typed, project);
  const real = realpathSync(folder);
  const entryPath = entryOf(start, real);
  const files = filesOf(entryPath, real);
  const modules = new Modules(files);
  const sources = [...files.values()];
  return {
    folder: real,
    project,
    packageJson: readPackageJson(real),
    sources,
    entry: entryPath === undefined ? undefined : files.get(entryPath),
    modules,
    requests: new RequestPath(sources, modules),
    texts: textNames.flatMap((name) => readText(real, name) ?? []),
    dependencies: project?.dependencies ?? new Set(),
    majorOf: (name) => majorOf(name, real, project),
    start: start && { words: start.command, env: start.env },
  };
}

/** What the entry imports; where that cannot be followed to its end, all source of the folder, unless it holds none. */
function filesOf(entry: string | undefined, folder: string): Map<string, SourceFile> {
  const run = entry === undefined ? undefined : importedFrom(entry, folder);
  if (run?.isWhole === true) return run.files;
  const below = filesBelow(folder);
  // A package as it is published has what was built, and no source.
  return below.size > 0 || run === undefined ? below : run.files;
}

/** The entry and what it imports; not the whole where it loads something by a name that only the running app knows. */
function importedFrom(
  entry: string,
  folder: string,
): { files: Map<string, SourceFile>; isWhole: boolean } {
  const files = new Map<string, SourceFile>();
  let isWhole = true;
  const queue = [entry];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (files.has(path) || files.size > mostFiles) continue;
    const file = parseFile(path, folder);
    if (file === undefined) {
      isWhole &&= path !== entry;
      continue;
    }
    files.set(path, file);
    for (const specifier of specifiersOf(file)) {
      if (specifier === undefined) {
        isWhole = false;
        continue;
      }
      const found = resolveOnDisk(path, specifier);
      if (found !== undefined && isSource.test(found) && !found.includes('/node_modules/')) {
        queue.push(found);
      }
    }
  }
  return { files, isWhole };
}

/** What a file imports; undefined for what is computed. */
function* specifiersOf(file: SourceFile): Generator<string | undefined> {
  for (const each of file.all(
    'ImportDeclaration',
    'ExportNamedDeclaration',
    'ExportAllDeclaration',
  )) {
    const source = stringOf(at(each, 'source'));
    if (source !== undefined) yield source;
  }
  for (const each of file.all('ImportExpression')) yield stringOf(at(each, 'source'));
  for (const each of file.all('CallExpression')) {
    const callee = at(each, 'callee');
    if (nameOf(callee) !== 'require' || callee?.type !== 'Identifier') continue;
    yield stringOf(argumentsOf(each)[0]);
  }
}

function filesBelow(folder: string): Map<string, SourceFile> {
  const files = new Map<string, SourceFile>();
  const queue = [folder];
  for (let next = queue.pop(); next !== undefined && files.size < mostFiles; next = queue.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        // A package of its own is looked at on its own.
        const isOther = existsSync(join(path, 'package.json'));
        if (!skippedFolders.test(entry.name) && !isOther) queue.push(path);
      } else if (entry.isFile() && isSource.test(entry.name) && !isBeside.test(entry.name)) {
        const file = parseFile(path, folder);
        if (file !== undefined) files.set(path, file);
      }
    }
  }
  return files;
}

function parseFile(path: string, folder: string): SourceFile | undefined {
  try {
    if (statSync(path).size > mostBytes) return undefined;
    return SourceFile.parse(path, relative(folder, path), readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function readPackageJson(folder: string): SourceFile | undefined {
  const read = readText(folder, 'package.json');
  return read && SourceFile.parseJson(read.path, read.name, read.text);
}

/** The object that package.json is. */
export function jsonObject(file: SourceFile | undefined): Node | undefined {
  const [statement] = file === undefined ? [] : (file.program['body'] as Node[]);
  return bare(at(statement, 'expression'));
}

/** The literal under a path of keys. */
export function jsonAt(file: SourceFile | undefined, ...keys: readonly string[]): Node | undefined {
  return keys.reduce((node, key) => propertyOf(node, key), jsonObject(file));
}

function readText(folder: string, name: string): TextFile | undefined {
  const path = join(folder, name);
  try {
    return { path, name, text: readFileSync(path, 'utf8') };
  } catch {
    return undefined;
  }
}

function majorOf(name: string, folder: string, project: Project | undefined): number | undefined {
  if (project === undefined || !project.dependencies.has(name)) return undefined;
  try {
    const { resolve } = createRequire(join(folder, 'package.json'));
    const { version } = JSON.parse(readFileSync(resolve(`${name}/package.json`), 'utf8')) as {
      version: string;
    };
    return Number(/^\d+/.exec(version)?.[0]);
  } catch {
    const json = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string> | undefined
    >;
    const range = json['dependencies']?.[name] ?? json['devDependencies']?.[name] ?? '';
    const major = /\d+/.exec(range)?.[0];
    return major === undefined ? undefined : Number(major);
  }
}
