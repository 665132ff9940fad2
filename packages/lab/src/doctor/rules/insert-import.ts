import type { Edit } from '../edits.ts';
import { at, type Node, stringOf } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';

/**
 * The edit that makes a name of a module known in a file, in the way the file imports others; none where it is known already,
 * undefined where the name stands for something else.
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

/** Before the first statement, after what must come first: a `#!` line, directives, comments at the head. */
function placeFor(file: SourceFile, imports: readonly Node[]): number {
  const statements = file.program['body'] as Node[];
  const first =
    imports[0] ??
    statements.find((each) => each['directive'] === undefined || each['directive'] === null);
  return first?.start ?? file.text.length;
}
