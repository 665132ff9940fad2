import type * as ESTree from 'estree';
import { isLiteral, methodCall, parentOf } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';
import { extremumEdit } from './rewrite.ts';

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
