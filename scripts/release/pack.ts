// Packs the published packages. Those in packages/ do not list their platform packages, because a clone could not be
// installed before a release: they are added here.
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
import { cratesInside } from './crates-inside.ts';
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
  /** Output folder for the tarballs; emptied first. */
  readonly into: string;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Returns the tarballs in publishing order: platform packages first, so that no install misses them. */
export function pack({ root, built, into }: PackOptions): string[] {
  rmSync(into, { recursive: true, force: true });
  const staged = join(into, 'staged');
  mkdirSync(staged, { recursive: true });
  const version = commonVersion(root);
  const crates = built.length > 0 ? cratesInside(root) : [];
  for (const { target, addons } of built) {
    const folder = join(staged, `native-${target.name}`);
    writePlatformPackage(folder, { root, target, version, addons, crates });
  }
  const natives = Object.fromEntries(built.map(({ target }) => [target.package, version]));
  const packages = packageFolders(root);
  for (const name of packages) stage(join(root, 'packages', name), join(staged, name), natives);
  const order = [...built.map(({ target }) => `native-${target.name}`), ...packages];
  const tarballs = order.map((name) => join(into, npmPack(join(staged, name), into)));
  rmSync(staged, { recursive: true });
  return tarballs;
}

/** Returns the version of all packages: platform packages have the version of the packages that load them. */
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

/** Lists the published folders of packages/: a package that is not finished is private. */
export function packageFolders(root: string): string[] {
  return readdirSync(join(root, 'packages')).filter((name) => {
    const folder = join(root, 'packages', name);
    return existsSync(join(folder, 'package.json')) && readManifest(folder).private !== true;
  });
}

/**
 * Copies the files that npm would pack, without declarations that no program can import, and adds the platform packages to
 * the manifest of packages that load an addon. The source map comment of compiled files is removed: the packages contain no
 * maps, and bundlers would warn about missing ones.
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

/** Finds modules that only had types and that no program imports: each takes a block of 4 KiB on disk. */
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

/** Copies without the source map comment. Programs lose all comments: editors show those of the declarations. */
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

/** Interpreter lines, and comments read by bundlers or about licences. */
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
    // Within a line, a comment stands for a space or a line end.
    const between = isWholeLine ? '' : comment.includes('\n') ? '\n' : ' ';
    bare =
      bare.slice(0, isWholeLine ? from : start) + between + bare.slice(isWholeLine ? end + 1 : end);
  }
  return withTabs(bare, isCommonJs);
}

/** Replaces four leading spaces of code lines by a tab: a tenth of all bytes. Lines within a text are unchanged. */
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

/** Reads the package.json in a tarball. */
export function manifestOf(tarball: string): Manifest {
  const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], {
    encoding: 'utf8',
  });
  return JSON.parse(text) as Manifest;
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

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
