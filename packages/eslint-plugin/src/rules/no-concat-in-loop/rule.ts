import type * as ESTree from 'estree';
import { kindOf } from '../../ast/kind.ts';
import { isInLoop, methodCall } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noConcatInLoop: RuleModule = defineRule(
  {
    name: 'no-concat-in-loop',
    advice: 'push to the array: concat and spread copy all of it each time',
  },
  (report, context) => ({
    AssignmentExpression(node) {
      if (node.operator !== '=' || !isInLoop(node)) return;
      const text = (part: ESTree.Node): string => context.sourceCode.getText(part);
      const target = text(node.left);
      const isTarget = (part: ESTree.Node): boolean => text(part) === target;
      const added = addedTo(node.right, isTarget);
      if (!added || kindOf(context, node.left) === 'string') return;
      const pushed = added.map((part) => pushedText(part));
      if (pushed.includes(undefined)) return report(node);
      report(node, {
        suggest: (fixer) => fixer.replaceText(node, `${target}.push(${pushed.join(', ')})`),
      });

      /** Returns an argument of push: `concat` adds the elements of an array argument. */
      function pushedText(part: ESTree.Node): string | undefined {
        if (node.right.type === 'ArrayExpression') return text(part);
        const kind = kindOf(context, part);
        if (kind === undefined) return undefined;
        return kind === 'array' ? `...${text(part)}` : text(part);
      }
    },
  }),
);

function addedTo(
  node: ESTree.Expression,
  isTarget: (part: ESTree.Node) => boolean,
): ESTree.Node[] | undefined {
  if (node.type === 'ArrayExpression') {
    const [first, ...rest] = node.elements;
    if (first?.type !== 'SpreadElement' || !isTarget(first.argument)) return undefined;
    return rest.filter((part) => part !== null);
  }
  const call = methodCall(node, 'concat');
  return call && isTarget(call.object) ? call.args : undefined;
}
