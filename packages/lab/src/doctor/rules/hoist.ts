import type { Edit } from '../edits.ts';
import { identifiersIn } from './imports.ts';
import {
  argumentsOf,
  at,
  nameOf,
  type Node,
  startWithDecorators,
  topStatementOf,
  within,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';

/** True for an expression with the same value in every call: no local names, no `this`, no await. */
export function isKnownOutside(file: SourceFile, expression: Node): boolean {
  for (const each of within(expression)) {
    if (/^(Await|Yield|This)Expression$|^Super$|Function/.test(each.type)) return false;
    if (each.type !== 'Identifier') continue;
    const binding = file.scopes.find(nameOf(each)!, each);
    if (binding === undefined || file.scopes.isOfFile(binding)) {
      if (binding?.kind === 'variable' && binding.node.parent?.['kind'] !== 'const') return false;
      continue;
    }
    return false;
  }
  return true;
}

/** Moves a call to a constant ahead of the top-level statement around it. Undefined if it needs a name declared further below. */
export function hoistEdits(file: SourceFile, call: Node, wanted: string): Edit[] | undefined {
  const top = topStatementOf(call);
  // A constant that it needs may be declared further below.
  const isBelow = [call, ...argumentsOf(call)].some((part) =>
    [...within(part)].some((each) => {
      const binding =
        each.type === 'Identifier' ? file.scopes.find(nameOf(each)!, each) : undefined;
      return binding !== undefined && binding.kind !== 'import' && binding.node.start > top.start;
    }),
  );
  if (isBelow || at(call, 'callee') === undefined) return undefined;
  const name = freeName(file, wanted);
  const start = startWithDecorators(top);
  return [
    { file, start, end: start, text: `const ${name} = ${file.textOf(call)};\n` },
    { file, start: call.start, end: call.end, text: name },
  ];
}

function freeName(file: SourceFile, wanted: string): string {
  const taken = identifiersIn(file.text);
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}${number}`;
    if (!taken.has(name)) return name;
  }
}
