import type { Edit } from '../edits.ts';
import { at, listAt, nameOf, type Node, stringOf } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';

/**
 * Returns the edit that imports a name in the file's own style; empty if it is already imported, undefined if the name is already
 * in use.
 */
export function insertImport(file: SourceFile, name: string, module: string): Edit[] | undefined {
  const known = file.scopes.ofFile.get(name);
  if (known !== undefined) {
    const source = known.kind === 'import' ? stringOf(at(known.node.parent, 'source')) : undefined;
    return source === module ? [] : undefined;
  }
  const imports = file.all('ImportDeclaration');
  const isModule =
    imports.length > 0 ||
    file.all('ExportNamedDeclaration', 'ExportDefaultDeclaration').length > 0 ||
    /\.m[jt]s$/.test(file.path);
  const line = isModule
    ? `import { ${name} } from '${module}';\n`
    : `const { ${name} } = require('${module}');\n`;
  const offset = placeFor(file, imports);
  return [{ file, start: offset, end: offset, text: line }];
}

/** Returns the offset before the first statement, after a `#!` line, directives and header comments, which must come first. */
function placeFor(file: SourceFile, imports: readonly Node[]): number {
  const statements = file.program['body'] as Node[];
  const first =
    imports[0] ??
    statements.find((each) => each['directive'] === undefined || each['directive'] === null);
  return first?.start ?? file.text.length;
}

/** Returns the edits that remove imports left unused by the given edits: strict compilers reject them. */
export function withoutUnusedImports(file: SourceFile, edits: readonly Edit[]): Edit[] {
  const written = identifiersIn(edits.map(({ text }) => text).join('\n'));
  const isLeft = (each: Node): boolean =>
    !edits.some(({ start, end }) => start <= each.start && each.end <= end);
  const isUsed = (name: string): boolean =>
    written.has(name) ||
    file
      .all('Identifier')
      .some(
        (each) => nameOf(each) === name && each.parent?.type !== 'ImportSpecifier' && isLeft(each),
      );
  const wasUsed = (name: string): boolean =>
    file
      .all('Identifier')
      .some((each) => nameOf(each) === name && each.parent?.type !== 'ImportSpecifier');
  return file.all('ImportDeclaration').flatMap((declaration): Edit[] => {
    const { start, end } = declaration;
    const specifiers = listAt(declaration, 'specifiers');
    const isReplaced = stringOf(at(declaration, 'source')) === '@nestjs/cache-manager';
    if (isReplaced || !specifiers.every(({ type }) => type === 'ImportSpecifier')) return [];
    const kept = specifiers.filter((each) => {
      const name = nameOf(at(each, 'local'))!;
      return isUsed(name) || !wasUsed(name);
    });
    if (kept.length === specifiers.length) return [];
    const first = specifiers[0]!;
    const last = specifiers.at(-1)!;
    if (kept.length === 0) {
      const line = /^[^\S\n]*\n?/.exec(file.text.slice(end))![0].length;
      return [{ file, start, end: end + line, text: '' }];
    }
    const text = kept.map((each) => file.textOf(each)).join(', ');
    return [{ file, start: first.start, end: last.end, text }];
  });
}

/**
 * Returns the words of a text that could be identifiers, including those in comments and strings. Does not use `\b`, for which
 * neither `$` nor `é` is part of a word.
 */
export function identifiersIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/[$\p{ID_Continue}\u200C\u200D]+/gu));
}
