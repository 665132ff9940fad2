import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const DECLARATION = /\.d\.([cm]?)ts$/;
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\(|<reference path=)\s*["'](\.[^"']+)["']/g;

interface Manifest {
  readonly types?: string;
  readonly exports?: unknown;
}

/**
 * The declaration files that a program which imports the package can see: those its manifest names, and what they import. The
 * compiler makes one of every file, and most describe what nobody outside can reach.
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

/** Every path of a declaration in it, at any depth. */
function* declarationsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (isDeclaration(value)) yield value;
  } else if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) yield* declarationsIn(each);
  }
}
