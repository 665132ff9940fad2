import type * as ESTree from 'estree';
import {
  isLiteral,
  methodCall,
  parentOf,
  type Context,
  isFunction,
  isPath,
  isWritten,
  selfAndAncestors,
} from '../../ast/node.ts';
import { defineRule, type RuleModule, type Edit } from '../../rule.ts';
import { freeNames } from '../../ast/variable.ts';

export const noSortForExtremum: RuleModule = defineRule(
  {
    name: 'no-sort-for-extremum',
    advice: 'find the least or greatest element in one pass: sorting orders all of them',
  },
  (report, context) => {
    const found = (node: ESTree.Expression, sorted: ESTree.Expression, isFirst: boolean): void => {
      if (isFallback(node)) return;
      // In an array with holes, the last index may not be an element.
      const edit = isFirst ? extremumEdit(context, node, sorted) : undefined;
      report(node, edit && { suggest: edit });
    };
    return {
      MemberExpression(node) {
        if (!node.computed || node.object.type === 'Super') return;
        if (!methodCall(node.object, 'sort', 'toSorted')) return;
        if (isLiteral(node.property, 'number') && node.property.value === 0)
          found(node, node.object, true);
      },
      CallExpression(node) {
        const taken = methodCall(node, 'pop', 'shift', 'at');
        if (!taken || !methodCall(taken.object, 'sort', 'toSorted')) return;
        const isFirst = taken.name === 'shift' || (taken.name === 'at' && isStart(taken.args[0]));
        const isLast = taken.name === 'pop' || (taken.name === 'at' && isEnd(taken.args[0]));
        if (isFirst || isLast) found(node, taken.object, isFirst);
      },
    };
  },
);

type Given = Parameters<typeof isLiteral>[0];

function isStart(node: Given): boolean {
  return isLiteral(node, 'number') && node.value === 0;
}

function isEnd(node: Given): boolean {
  return (
    node?.type === 'UnaryExpression' &&
    node.operator === '-' &&
    isLiteral(node.argument, 'number') &&
    node.argument.value === 1
  );
}

/** True for the sort that a rewrite keeps as its fallback. */
function isFallback(node: ESTree.Node): boolean {
  const parent = parentOf(node);
  return (
    parent?.type === 'ConditionalExpression' &&
    parent.alternate === node &&
    methodCall(parent.test, 'every') !== undefined
  );
}

/** The comparison key of two elements: themselves, or one property of each. */
interface Key {
  /** Undefined if the elements themselves are compared. */
  property: string | undefined;
  isDescending: boolean;
}

/**
 * Finds the first element of a sorted copy in one pass if every key of every element is a finite number: the comparator then orders
 * them all, and the first of equal ones stays first. All other cases are left to the sort, which has its own order of NaN, strings
 * and missing elements. Undefined if the comparator is not written as differences of one key or several, or if the sorted array is
 * visible to other code.
 */
export function extremumEdit(
  context: Context,
  node: ESTree.Expression,
  sorted: ESTree.Expression,
): Edit | undefined {
  const sort = methodCall(sorted, 'sort', 'toSorted');
  const list = sort && (sort.name === 'toSorted' ? sort.object : copied(sort.object));
  const [comparator, ...others] = sort?.args ?? [];
  if (!list || !isPath(list) || others.length > 0 || !isFunction(comparator)) return undefined;
  const keys = keysOf(comparator);
  if (keys === undefined || isWritten(node) || beginsStatement(node)) return undefined;
  const { sourceCode } = context;
  return (fixer) => {
    const free = freeNames(context, node);
    const least = free('least', 'best', 'found');
    const each = free('each', 'item', 'next');
    const isArrow = comparator.type === 'ArrowFunctionExpression';
    const fn = (params: string, value: string): string =>
      isArrow ? `(${params}) => ${value}` : `function (${params}) { return ${value}; }`;
    const of = (name: string, { property }: Key): string =>
      property === undefined ? name : `${name}.${property}`;
    const known = keys.map((key) => `Number.isFinite(${of(each, key)})`);
    const isNumeric = [`${each} != null`, ...known].join(' && ');
    const order = keys.map((key) =>
      key.isDescending
        ? `${of(least, key)} - ${of(each, key)}`
        : `${of(each, key)} - ${of(least, key)}`,
    );
    const isLess = keys.length === 1 ? `${order[0]!} < 0` : `(${order.join(' || ')}) < 0`;
    const pick = `${least} === undefined || ${isLess} ? ${each} : ${least}`;
    const text = sourceCode.getText(list);
    const indent = /^\s*/.exec(sourceCode.lines[node.loc!.start.line - 1]!)![0];
    const lines = [
      `(${text}.every(${fn(each, isNumeric)})`,
      `${indent}  ? ${text}.reduce(${fn(`${least}, ${each}`, pick)}, undefined)`,
      `${indent}  : ${sourceCode.getText(node)})`,
    ];
    return fixer.replaceText(node, lines.join('\n'));
  };
}

/** True if a parenthesis at the start would continue the line above. */
function beginsStatement(node: ESTree.Node): boolean {
  return [...selfAndAncestors(node)].some(
    (each) => each.type === 'ExpressionStatement' && each.range![0] === node.range![0],
  );
}

/** Returns `list` of `list.slice()`: no other code has the sorted array. */
function copied(node: ESTree.Expression): ESTree.Expression | undefined {
  const slice = methodCall(node, 'slice');
  const [from, ...others] = slice?.args ?? [];
  const isWhole = from === undefined || (isLiteral(from, 'number') && from.value === 0);
  return isWhole && others.length === 0 ? slice?.object : undefined;
}

/** Returns the keys of `(a, b) => a.x - b.x || a.y - b.y`, the most important first. */
function keysOf(comparator: ESTree.Node): Key[] | undefined {
  if (!isFunction(comparator) || comparator.async || comparator.generator) return undefined;
  const [a, b, ...others] = comparator.params;
  if (a?.type !== 'Identifier' || b?.type !== 'Identifier' || others.length > 0) return undefined;
  const [only, ...more] =
    comparator.body.type === 'BlockStatement' ? comparator.body.body : [comparator.body];
  const value = only?.type === 'ReturnStatement' ? only.argument : only;
  if (a.name === b.name || more.length > 0 || !value) return undefined;
  const keys = alternatives(value as ESTree.Expression).map((each) => keyOf(each, a.name, b.name));
  return keys.includes(undefined) ? undefined : (keys as Key[]);
}

/** Returns the parts of `x || y || z`. */
function alternatives(node: ESTree.Expression): ESTree.Expression[] {
  return node.type === 'LogicalExpression' && node.operator === '||'
    ? [...alternatives(node.left), ...alternatives(node.right)]
    : [node];
}

function keyOf(node: ESTree.Expression, a: string, b: string): Key | undefined {
  if (node.type !== 'BinaryExpression' || node.operator !== '-') return undefined;
  const left = elementOf(node.left);
  const right = elementOf(node.right);
  if (left === undefined || right === undefined || left.property !== right.property)
    return undefined;
  const { property } = left;
  if (left.name === a && right.name === b) return { property, isDescending: false };
  return left.name === b && right.name === a ? { property, isDescending: true } : undefined;
}

/** Matches `a`, or `a.price`: a deeper property may be missing, which a sort of one element does not notice. */
function elementOf(node: ESTree.Node): { name: string; property: string | undefined } | undefined {
  if (node.type === 'Identifier') return { name: node.name, property: undefined };
  if (node.type !== 'MemberExpression' || node.computed || node.optional) return undefined;
  const { object, property } = node;
  return object.type === 'Identifier' && property.type === 'Identifier'
    ? { name: object.name, property: property.name }
    : undefined;
}
