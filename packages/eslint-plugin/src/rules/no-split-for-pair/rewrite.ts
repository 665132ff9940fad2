import type { Scope } from 'eslint';
import type * as ESTree from 'estree';
import {
  type Context,
  isRepeatable,
  isWritten,
  methodCall,
  type Node,
  parentOf,
  selfAndAncestors,
} from '../../ast/node.ts';
import { freeNames, usesOf, variableOf } from '../../ast/variable.ts';
import type { Edit } from '../../rule.ts';

/**
 * Returns the first two parts of a text as split does: without the separator, the text itself and undefined; the second part ends
 * at the next separator. Undefined if the declaration contains more than that, or if a part is written to.
 */
export function pairEdit(context: Context, node: ESTree.VariableDeclarator): Edit | undefined {
  const declaration = parentOf(node);
  if (declaration?.type !== 'VariableDeclaration' || declaration.declarations.length !== 1)
    return undefined;
  const block = parentOf(declaration);
  // Excludes loop heads and exports.
  if (!block || !/^(?:Program|BlockStatement|StaticBlock)$/.test(block.type)) return undefined;
  const call = methodCall(node.init, 'split');
  const [separator, ...others] = call?.args ?? [];
  if (!call || separator?.type !== 'Literal' || others.length > 0) return undefined;
  const parts = partsOf(context, node.id, declaration, block);
  if (parts === undefined) return undefined;
  return (fixer) => {
    const { sourceCode } = context;
    const free = namesFor(context, block);
    const object = sourceCode.getText(call.object);
    const given = call.object.type === 'SequenceExpression' ? `(${object})` : object;
    const names = parts.reads ? [free('first', 'head'), free('second', 'rest')] : parts.names;
    // Any expression other than a variable is read only once; so is a variable that is declared again here.
    const isOnce = !isRepeatable(call.object) || names.includes(given);
    const text = isOnce ? free('text', 'whole', 'given') : given;
    const at = free('at', 'cut', 'split');
    const end = free('end', 'stop', 'next');
    const from = `${at} + ${String(separator.value).length}`;
    const { reads = [] } = parts;
    const isRead = (index: number): boolean =>
      parts.reads === undefined || reads.some((read) => read.index === index);
    const lines = [
      ...(isOnce ? [`${text} = ${given}`] : []),
      `${at} = ${text}.indexOf(${separator.raw})`,
      `${end} = ${at} === -1 ? -1 : ${text}.indexOf(${separator.raw}, ${from})`,
      ...(isRead(0) ? [`${names[0]} = ${at} === -1 ? ${text} : ${text}.slice(0, ${at})`] : []),
      `${names[1]} = ${at} === -1 ? undefined : ${text}.slice(${from}, ${end} === -1 ? ${text}.length : ${end})`,
    ];
    const indent = /^\s*/.exec(sourceCode.lines[declaration.loc!.start.line - 1]!)![0];
    return [
      fixer.replaceText(declaration, `${declaration.kind} ${lines.join(`,\n${indent}  `)};`),
      ...reads.map(({ node: read, index }) => fixer.replaceText(read, names[index]!)),
    ];
  };
}

/** Names used in other pairs, whose declarations are not in the code yet: all edits may be applied at once. */
const given = new WeakMap<Scope.Scope, Set<string>>();

/** Returns names that are free in the whole function: its blocks share `var` declarations. */
function namesFor(context: Context, block: ESTree.Node): (...names: string[]) => string {
  const scope = context.sourceCode.getScope(block).variableScope;
  const free = freeNames(context, scope.block as ESTree.Node);
  const own = given.get(scope) ?? new Set();
  given.set(scope, own);
  return (...names) => {
    let name = free(...names);
    while (isGiven(scope, name)) name = free(...names);
    own.add(name);
    return name;
  };
}

/** True if a name is in use, also in an outer function: a name read in here may be part of its pair. */
function isGiven(from: Scope.Scope, name: string): boolean {
  for (let scope: Scope.Scope | null = from; scope; scope = scope.upper) {
    if (given.get(scope)?.has(name) === true) return true;
  }
  return false;
}

interface Parts {
  /** Names of both variables, if the pattern declares them. */
  names: string[];
  /** Reads of `pair[0]` and `pair[1]`, if the parts are kept as a list. */
  reads?: { node: ESTree.Node; index: number }[];
}

function partsOf(
  context: Context,
  id: ESTree.Pattern,
  declaration: ESTree.VariableDeclaration,
  block: ESTree.Node,
): Parts | undefined {
  if (id.type === 'ArrayPattern') {
    const names = id.elements.map((each) => (each?.type === 'Identifier' ? each.name : ''));
    return names.length === 2 && !names.includes('') && names[0] !== names[1]
      ? { names }
      : undefined;
  }
  const variable = id.type === 'Identifier' ? variableOf(context, id) : undefined;
  // Other scripts can access a script's own variables.
  if (variable === undefined || block.type === 'Program') return undefined;
  const reads = usesOf(variable).map((use) => parentOf(use)!);
  const isPlain = (read: ESTree.Node): boolean =>
    read.range![0] > declaration.range![1] &&
    [...selfAndAncestors(read)].includes(block as Node) &&
    !isWritten(read);
  if (!reads.every(isPlain)) return undefined;
  return {
    names: [],
    reads: reads.map((read) => {
      const { property } = read as ESTree.MemberExpression;
      return { node: read, index: Number((property as ESTree.SimpleLiteral).value) };
    }),
  };
}
