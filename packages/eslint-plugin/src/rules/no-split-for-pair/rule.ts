import type * as ESTree from 'estree';
import {
  type Context,
  isLiteral,
  methodCall,
  parentOf,
  isRepeatable,
  isWritten,
  type Node,
  selfAndAncestors,
} from '../../ast/node.ts';
import { constantValue, usesOf, variableOf, freeNames } from '../../ast/variable.ts';
import { defineRule, type RuleModule, type Edit } from '../../rule.ts';
import type { Scope } from 'eslint';

export const noSplitForPair: RuleModule = defineRule(
  {
    name: 'no-split-for-pair',
    advice: 'cut the pair with indexOf and slice: split makes an array and every part',
  },
  (report, context) => ({
    VariableDeclarator(node) {
      const call = methodCall(node.init, 'split');
      const [separator] = call?.args ?? [];
      if (!node.init || !call || !isLiteral(separator, 'string') || separator.value === '') return;
      const isPair =
        node.id.type === 'Identifier'
          ? isReadAsPair(context, node.id)
          : node.id.type === 'ArrayPattern' && node.id.elements.length === 2;
      if (!isPair) return;
      // A value other than a string may have its own split.
      const edit = pairEdit(context, node);
      report(node.init, edit && { suggest: edit });
    },
    MemberExpression(node) {
      const call = methodCall(node.object, 'split');
      if (call && isLiteral(call.args[0], 'string') && isIndex(node, 1)) report(node);
    },
  }),
);

/** True for a variable of which only the first two elements are ever read, including the second. */
function isReadAsPair(context: Context, id: ESTree.Identifier): boolean {
  const variable = variableOf(context, id);
  if (!variable || constantValue(variable) === undefined) return false;
  const reads = usesOf(variable).map(parentOf);
  const reading = (index: number) => (node: ESTree.Node | undefined) =>
    node?.type === 'MemberExpression' && isIndex(node, index);
  return reads.some(reading(1)) && reads.every((node) => reading(0)(node) || reading(1)(node));
}

function isIndex(node: ESTree.MemberExpression, index: number): boolean {
  return node.computed && isLiteral(node.property, 'number') && node.property.value === index;
}

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
