import { isLiteral, methodCall } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noSortForExtremum: RuleModule = defineRule(
  {
    name: 'no-sort-for-extremum',
    advice: 'find the least or greatest element in one pass: sorting orders all of them',
  },
  (report) => ({
    MemberExpression(node) {
      if (!node.computed || !methodCall(node.object, 'sort', 'toSorted')) return;
      if (isLiteral(node.property, 'number') && node.property.value === 0) report(node);
    },
    CallExpression(node) {
      const taken = methodCall(node, 'pop', 'shift', 'at');
      if (!taken || !methodCall(taken.object, 'sort', 'toSorted')) return;
      if (taken.name !== 'at' || isEnd(taken.args[0])) report(node);
    },
  }),
);

function isEnd(node: Parameters<typeof isLiteral>[0]): boolean {
  if (node?.type === 'UnaryExpression')
    return node.operator === '-' && isLiteral(node.argument, 'number') && node.argument.value === 1;
  return isLiteral(node, 'number') && node.value === 0;
}
