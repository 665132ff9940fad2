import type { Edit } from '../edits.ts';
import { at, type Node, stringOf } from '../syntax/node.ts';
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
