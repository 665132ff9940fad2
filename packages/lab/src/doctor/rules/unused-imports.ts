import type { Edit } from '../edits.ts';
import { identifiersIn } from '../syntax/identifiers-in.ts';
import { at, listAt, nameOf, type Node, stringOf } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';

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
