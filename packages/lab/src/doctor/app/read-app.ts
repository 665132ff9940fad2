import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { CommandLine } from '../../config/command-line.ts';
import { frameworks, type Project, readProject } from '../../project/read-project.ts';
import {
  argumentsOf,
  around,
  at,
  bare,
  nameOf,
  type Node,
  propertyOf,
  stringOf,
} from '../syntax/node.ts';
import { resolveOnDisk } from '../syntax/files.ts';
import { Modules } from '../syntax/modules.ts';
import { RequestPath } from '../syntax/request-path.ts';
import { SourceFile } from '../syntax/source-file.ts';
import type { App, Missing, TextFile } from './app.ts';
import { entryOf, nodeStart } from './start-of.ts';

const isSource = /\.[mc]?[jt]s$/;
const isBeside = /(\.d\.[mc]?ts|[.-](test|spec|e2e-spec|config|stories|bench)\.[mc]?[jt]s)$/;
/** Folders that a server does not run. */
const skippedFolders =
  /^(node_modules|dist|build|out|coverage|public|static|assets|vendor|tests?|__tests__|__mocks__|spec|e2e|cypress|fixtures|mocks|migrations|seeds|seeders|scripts|bench|benchmarks?|docs|\..*)$/;
const maxFiles = 3_000;
/** Max size of a source file: a larger one was generated or bundled. */
const maxBytes = 500_000;
const textNames = ['.nvmrc', '.node-version', '.tool-versions', 'Dockerfile'];

/** Reads the app in a folder without running any of it. */
export function readApp(folder: string, typed: CommandLine | undefined): App {
  const project = readProject(folder);
  const start = nodeStart(typed, project);
  const real = realpathSync(folder);
  const entryPath = entryOf(start, real);
  const { files, missing } = filesOf(entryPath, real);
  const modules = new Modules(files);
  const sources = [...files.values()];
  return {
    folder: real,
    project,
    packageJson: readPackageJson(real),
    sources,
    entry: entryPath === undefined ? undefined : files.get(entryPath),
    missing,
    framework: frameworkOf(sources, project),
    modules,
    requests: new RequestPath(sources, modules),
    texts: textNames.flatMap((name) => readText(real, name) ?? []),
    dependencies: project?.dependencies ?? new Set(),
    majorOf: (name) => majorOf(name, real, project),
    start: start && { words: start.command, env: start.env },
  };
}

/**
 * Returns the files that the entry imports; all source of the folder if the imports cannot be followed completely, unless it
 * contains none.
 */
function filesOf(entry: string | undefined, folder: string): Pick<Imported, 'files' | 'missing'> {
  const run = entry === undefined ? undefined : importedFrom(entry, folder);
  if (run?.isWhole === true) return run;
  const below = filesBelow(folder);
  // A published package contains its build output and no source.
  const files = below.size > 0 || run === undefined ? below : run.files;
  return { files, missing: run?.missing ?? [] };
}

interface Imported {
  files: Map<string, SourceFile>;
  missing: Missing[];
  isWhole: boolean;
}

/** Follows the imports of the entry; incomplete if a file loads a module by a computed name. */
function importedFrom(entry: string, folder: string): Imported {
  const files = new Map<string, SourceFile>();
  const missing: Missing[] = [];
  let isWhole = true;
  const queue = [entry];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (files.has(path) || files.size > maxFiles) continue;
    const file = parseFile(path, folder);
    if (file === undefined) {
      isWhole &&= path !== entry;
      continue;
    }
    files.set(path, file);
    for (const { specifier, isTried } of specifiersOf(file)) {
      if (specifier === undefined) {
        isWhole = false;
        continue;
      }
      const found = resolveOnDisk(path, specifier);
      if (found === undefined) {
        const isOwn = /^\.{1,2}\//.test(specifier) && !existsSync(join(dirname(path), specifier));
        if (isOwn && !isTried) missing.push({ from: file.name, specifier });
      } else if (isSource.test(found) && !found.includes('/node_modules/')) {
        queue.push(found);
      }
    }
  }
  // The start file of an app that has not been built contains none of its code.
  return { files, missing, isWhole: isWhole && (missing.length === 0 || files.size > 1) };
}

interface Specifier {
  /** Undefined if it is computed. */
  specifier: string | undefined;
  /** Inside `try`: the module may be missing. */
  isTried: boolean;
}

function* specifiersOf(file: SourceFile): Generator<Specifier> {
  for (const each of file.all(
    'ImportDeclaration',
    'ExportNamedDeclaration',
    'ExportAllDeclaration',
  )) {
    const source = stringOf(at(each, 'source'));
    // Types are erased at run time.
    const isTried = each['importKind'] === 'type' || each['exportKind'] === 'type';
    if (source !== undefined) yield { specifier: source, isTried };
  }
  for (const each of file.all('ImportExpression')) {
    yield { specifier: stringOf(at(each, 'source')), isTried: isInTry(each) };
  }
  for (const each of file.all('CallExpression')) {
    const callee = at(each, 'callee');
    if (nameOf(callee) !== 'require' || callee?.type !== 'Identifier') continue;
    yield { specifier: stringOf(argumentsOf(each)[0]), isTried: isInTry(each) };
  }
}

function isInTry(node: Node): boolean {
  return around(node, ({ type }) => type === 'TryStatement') !== undefined;
}

/** Detects the framework by the imports of the code: the package.json of a workspace lists those of all its apps. */
function frameworkOf(
  sources: readonly SourceFile[],
  project: Project | undefined,
): string | undefined {
  const imported = new Set(
    sources.flatMap((file) => [...specifiersOf(file)].map(({ specifier }) => specifier)),
  );
  if (imported.has('@nestjs/core')) {
    const isFastify = ['@nestjs/platform-fastify', '@redline/nest'].some((name) =>
      imported.has(name),
    );
    return `Nest on ${isFastify ? 'Fastify' : 'Express'}`;
  }
  const found = Object.entries(frameworks).find(([name]) => imported.has(name));
  // Started by the framework's own program, such as fastify-cli.
  const named = project?.framework;
  return (
    found?.[1] ?? (named?.startsWith('Nest') === true && sources.length > 0 ? undefined : named)
  );
}

function filesBelow(folder: string): Map<string, SourceFile> {
  const files = new Map<string, SourceFile>();
  const queue = [folder];
  for (let next = queue.pop(); next !== undefined && files.size < maxFiles; next = queue.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        // A nested package is examined on its own.
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
    if (statSync(path).size > maxBytes) return undefined;
    return SourceFile.parse(path, relative(folder, path), readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function readPackageJson(folder: string): SourceFile | undefined {
  const read = readText(folder, 'package.json');
  return read && SourceFile.parseJson(read.path, read.name, read.text);
}

/** Returns the top-level object of package.json. */
export function jsonObject(file: SourceFile | undefined): Node | undefined {
  const [statement] = file === undefined ? [] : (file.program['body'] as Node[]);
  return bare(at(statement, 'expression'));
}

/** Returns the literal at a path of keys. */
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
