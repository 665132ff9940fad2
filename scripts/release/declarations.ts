import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const DECLARATION = /\.d\.([cm]?)ts$/;
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\(|<reference path=)\s*["'](\.[^"']+)["']/g;

interface Manifest {
  readonly types?: string;
  readonly exports?: unknown;
}

/**
 * Returns the declaration files visible to a program that imports the package: those named in its manifest, and their
 * imports. The compiler emits one per file, and most describe internals that cannot be imported.
 *
 * @returns paths in the package
 * @throws {Error} if one of them is missing
 */
export function visibleDeclarations(folder: string): Set<string> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const waiting = [...declarationsIn([manifest.types, manifest.exports])].flatMap((path) =>
    path.includes('*') ? globSync(normalize(path), { cwd: folder }) : [normalize(path)],
  );
  const seen = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    if (!existsSync(join(folder, path))) throw new Error(`${join(folder, path)} is missing.`);
    seen.add(path);
    for (const [, specifier] of readFileSync(join(folder, path), 'utf8').matchAll(SPECIFIER)) {
      const file = join(dirname(path), specifier!);
      waiting.push(DECLARATION.test(file) ? file : file.replace(/\.([cm]?)[jt]s$/, '.d.$1ts'));
    }
  }
  return seen;
}

export function isDeclaration(path: string): boolean {
  return DECLARATION.test(path);
}

/** Yields every path of a declaration in it, at any depth. */
function* declarationsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (isDeclaration(value)) yield value;
  } else if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) yield* declarationsIn(each);
  }
}
