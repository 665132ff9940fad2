import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argumentsOf, at, bare, listAt, nameOf, type Node, stringOf } from './node.ts';
import type { Binding } from './scopes.ts';
import type { SourceFile } from './source-file.ts';

/** A piece of code, and the file it is in. */
export interface Code {
  file: SourceFile;
  node: Node;
}

/** Limit for files that re-export each other. */
const maxSteps = 12;
const endings = [
  '',
  '.ts',
  '.js',
  '.mts',
  '.mjs',
  '.cts',
  '.cjs',
  '.tsx',
  '.jsx',
  '/index.ts',
  '/index.js',
];

/** Resolves the specifiers of an app to its files, and their exports. */
export class Files {
  readonly #files: ReadonlyMap<string, SourceFile>;
  readonly #exports = new Map<SourceFile, Map<string, Node>>();

  constructor(files: ReadonlyMap<string, SourceFile>) {
    this.#files = files;
  }

  /** Returns the app's file for a relative specifier. */
  fileOf(from: SourceFile, specifier: string | undefined): SourceFile | undefined {
    if (specifier === undefined || !/^\.{0,2}\//.test(specifier)) return undefined;
    const path = join(dirname(from.path), specifier);
    // TypeScript specifiers name the output file.
    const stem = path.replace(/\.([mc]?)js$/, '.$1ts');
    for (const each of [stem, ...endings.map((ending) => path + ending)]) {
      const found = this.#files.get(each);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Returns the export of a module of the app by its name. */
  exportOf(file: SourceFile, name: string, steps: number = maxSteps): Code | undefined {
    if (steps === 0) return undefined;
    let known = this.#exports.get(file);
    if (known === undefined) {
      known = exportsOf(file);
      this.#exports.set(file, known);
    }
    const node = known.get(name);
    if (node?.type === 'ExportSpecifier') {
      const declaration = node.parent;
      const source = stringOf(at(declaration, 'source'));
      if (source === undefined) return { file, node: at(node, 'local')! };
      const other = this.fileOf(file, source);
      return other && this.exportOf(other, nameOf(at(node, 'local')) ?? name, steps - 1);
    }
    if (node !== undefined) return { file, node };
    for (const each of file.all('ExportAllDeclaration')) {
      const other = this.fileOf(file, stringOf(at(each, 'source')));
      const found = other && this.exportOf(other, name, steps - 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Returns the app's file that `require('./x')` or `await import('./x')` loads. */
  requiredFile({ file, node }: Code): SourceFile | undefined {
    const value = node.type === 'AwaitExpression' ? at(node, 'argument') : node;
    if (value?.type === 'ImportExpression') return this.fileOf(file, stringOf(at(value, 'source')));
    if (value?.type !== 'CallExpression' || nameOf(at(value, 'callee')) !== 'require')
      return undefined;
    return this.fileOf(file, stringOf(argumentsOf(value)[0]));
  }
}

/** Returns the path of an existing file of the app, also for TypeScript's output names. */
export function resolveOnDisk(from: string, specifier: string): string | undefined {
  if (!/^\.{0,2}\//.test(specifier)) return undefined;
  const path = join(dirname(from), specifier);
  const stem = path.replace(/\.([mc]?)js$/, '.$1ts');
  return [stem, ...endings.map((ending) => path + ending)].find(
    (each) => existsSync(each) && statSync(each).isFile(),
  );
}

/** Returns the package or module of Node that a specifier names; undefined for a file of the app. */
export function packageOf(specifier: string | undefined): string | undefined {
  if (specifier === undefined || /^[./#]/.test(specifier)) return undefined;
  return specifier.replace(/^node:/, '');
}

/** Returns the specifier and the exported name of an import; without a name it is the whole module. */
export function importOf({ node }: Binding): {
  specifier: string | undefined;
  name: string | undefined;
} {
  const specifier = stringOf(at(node.parent, 'source'));
  if (node.type === 'ImportSpecifier') return { specifier, name: nameOf(at(node, 'imported')) };
  return { specifier, name: node.type === 'ImportDefaultSpecifier' ? 'default' : undefined };
}

function exportsOf(file: SourceFile): Map<string, Node> {
  const found = new Map<string, Node>();
  for (const each of file.all('ExportNamedDeclaration')) {
    for (const specifier of listAt(each, 'specifiers')) {
      found.set(nameOf(at(specifier, 'exported')) ?? '', specifier);
    }
    const declaration = at(each, 'declaration');
    const own = nameOf(at(declaration, 'id'));
    if (own !== undefined && declaration !== undefined) found.set(own, declaration);
    for (const declarator of listAt(declaration, 'declarations')) {
      const id = at(declarator, 'id');
      if (id?.type === 'Identifier') found.set(nameOf(id)!, id);
    }
  }
  for (const each of file.all('ExportDefaultDeclaration')) {
    const declaration = bare(at(each, 'declaration'));
    if (declaration !== undefined) found.set('default', declaration);
  }
  for (const each of file.all('AssignmentExpression')) {
    const left = bare(at(each, 'left'));
    const right = bare(at(each, 'right'));
    if (left?.type !== 'MemberExpression' || right === undefined) continue;
    const target = file.textOf(left);
    if (target === 'module.exports') {
      found.set('default', right);
      for (const property of right.type === 'ObjectExpression' ? listAt(right, 'properties') : []) {
        const value = bare(at(property, 'value'));
        if (value !== undefined) found.set(nameOf(at(property, 'key')) ?? '', value);
      }
    }
    const name = /^(?:module\.)?exports\.(\w+)$/.exec(target)?.[1];
    if (name !== undefined) found.set(name, right);
  }
  return found;
}
