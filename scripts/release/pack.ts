// Packs what npm publishes. The packages in packages/ do not name their platform packages, because no clone could be
// installed before a release: here they get them.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Comment, parse, type Token } from 'acorn';
import type { CrateInside } from './crates-inside.ts';
import { isDeclaration, visibleDeclarations } from './declarations.ts';
import type { Target } from '../targets.mjs';
import { writePlatformPackage } from './platform-package.ts';

export interface BuiltTarget {
  readonly target: Target;
  readonly addons: Readonly<Record<string, string>>;
}

export interface PackOptions {
  readonly root: string;
  /** Platforms whose addons are built. */
  readonly built: readonly BuiltTarget[];
  /** Where the tarballs go; emptied before. */
  readonly into: string;
  readonly crates?: readonly CrateInside[];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Returns the tarballs in the order they are published in: platform packages first, so that no install misses them. */
export function pack({ root, built, into, crates }: PackOptions): string[] {
  rmSync(into, { recursive: true, force: true });
  const staged = join(into, 'staged');
  mkdirSync(staged, { recursive: true });
  const version = commonVersion(root);
  for (const { target, addons } of built) {
    const folder = join(staged, `native-${target.name}`);
    writePlatformPackage(folder, { root, target, version, addons, ...(crates && { crates }) });
  }
  const natives = Object.fromEntries(built.map(({ target }) => [target.package, version]));
  const packages = packageFolders(root);
  for (const name of packages) stage(join(root, 'packages', name), join(staged, name), natives);
  const order = [...built.map(({ target }) => `native-${target.name}`), ...packages];
  const tarballs = order.map((name) => join(into, npmPack(join(staged, name), into)));
  rmSync(staged, { recursive: true });
  return tarballs;
}

/** Platform packages have the version of the packages that load them, so there is one for all. */
export function commonVersion(root: string): string {
  const versions = new Map(
    packageFolders(root).map((name) => [name, readManifest(join(root, 'packages', name)).version]),
  );
  const [version, ...others] = new Set(versions.values());
  if (version === undefined || others.length > 0) {
    const list = [...versions].map(([name, each]) => `${name} ${each}`).join(', ');
    throw new Error(`The packages must have one version, but there are: ${list}.`);
  }
  return version;
}

/** What is published from packages/. */
export function packageFolders(root: string): string[] {
  return readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'package.json')),
  );
}

/**
 * Copies what npm would pack, without the declarations that no program can see, and with the platform packages in the manifest
 * of those that load an addon. Files of the compiler lose the comment that names their map: no package holds one, and bundlers
 * would warn that it is missing.
 */
function stage(from: string, to: string, natives: Readonly<Record<string, string>>): void {
  const listed = npm(['pack', '--dry-run', '--json'], from);
  const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }];
  const visible = visibleDeclarations(from);
  const empty = emptyModules(
    from,
    files.map(({ path }) => path),
  );
  for (const { path } of files) {
    if ((isDeclaration(path) && !visible.has(path)) || empty.has(path)) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    if (/^(?:dist|preload|prove)\/.*\.[cm]?[jt]s$/.test(path))
      copyBare(join(from, path), join(to, path));
    else cpSync(join(from, path), join(to, path));
  }
  if (!existsSync(join(from, 'native.cjs')) || Object.keys(natives).length === 0) return;
  const manifest = { ...readManifest(from), optionalDependencies: natives };
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Modules that had types alone, and that no program imports: each takes a block of 4 KiB on disk. */
function emptyModules(folder: string, paths: readonly string[]): Set<string> {
  const programs = paths.filter((path) => /\.[cm]?js(on)?$/.test(path));
  const used = new Set(
    programs.flatMap((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      const named = text.matchAll(/['"](\.{1,2}\/[^'"\n]+\.js)['"]/g);
      return [...named].map(([, name]) => join(dirname(path), name!));
    }),
  );
  const isEmpty = (path: string): boolean =>
    /^dist\/.*\.js$/.test(path) &&
    !used.has(path) &&
    /^export \{\};\s*(\/\/.*\s*)?$/.test(readFileSync(join(folder, path), 'utf8'));
  return new Set(programs.filter(isEmpty));
}

/** Without the comment that names the map. Programs are without all comments: editors show those of the declarations. */
function copyBare(from: string, to: string): void {
  const text = readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
  writeFileSync(
    to,
    isDeclaration(from)
      ? text.replace(indents, tabs)
      : withoutComments(text, from.endsWith('.cjs')),
  );
}

const indents = /^(?: {4})+/gm;

/** The line of an interpreter, and comments for bundlers and of licences. */
const isRead = /^#!|[@#]__\w+__|Ignore|@vite|@license|@preserve|^\/\*!/;

function withoutComments(text: string, isCommonJs: boolean): string {
  const comments: Comment[] = [];
  parse(text, {
    ecmaVersion: 'latest',
    sourceType: isCommonJs ? 'commonjs' : 'module',
    onComment: comments,
  });
  let bare = text;
  for (const { start, end } of comments.toReversed()) {
    const comment = bare.slice(start, end);
    if (isRead.test(comment)) continue;
    let from = start;
    while (bare[from - 1] === ' ') from -= 1;
    const isWholeLine = (from === 0 || bare[from - 1] === '\n') && bare[end] === '\n';
    // Within a line it stands for a space, or for the end of the line.
    const between = isWholeLine ? '' : comment.includes('\n') ? '\n' : ' ';
    bare =
      bare.slice(0, isWholeLine ? from : start) + between + bare.slice(isWholeLine ? end + 1 : end);
  }
  return withTabs(bare, isCommonJs);
}

/** A tab for each four spaces that begin a line of code: a tenth of all bytes. Lines within a text stay as they are. */
function withTabs(text: string, isCommonJs: boolean): string {
  const texts: Token[] = [];
  parse(text, {
    ecmaVersion: 'latest',
    sourceType: isCommonJs ? 'commonjs' : 'module',
    onToken(token) {
      if (text.slice(token.start, token.end).includes('\n')) texts.push(token);
    },
  });
  return text.replace(indents, (spaces, at: number) =>
    texts.some(({ start, end }) => start <= at && at < end) ? spaces : tabs(spaces),
  );
}

function tabs(spaces: string): string {
  return '\t'.repeat(spaces.length / 4);
}

function npmPack(folder: string, into: string): string {
  const [{ filename }] = JSON.parse(
    npm(['pack', '--json', '--pack-destination', into], folder),
  ) as [{ filename: string }];
  return filename;
}

function npm(args: string[], cwd: string): string {
  return execFileSync('npm', [...args, '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 16 << 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
