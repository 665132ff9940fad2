import type * as ESTree from 'estree';
import { isFunction, methodCall, parentOf, selfAndAncestors } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noShiftInLoop: RuleModule = defineRule(
  {
    name: 'no-shift-in-loop',
    advice: 'drain the array by its index: shift moves all other elements each time',
  },
  (report, context) => ({
    CallExpression(node) {
      const call = methodCall(node, 'shift');
      if (!call || call.args.length > 0) return;
      const test = testOfLoop(node);
      const queue = context.sourceCode.getText(call.object);
      // A loop that runs until this array is empty.
      if (test && context.sourceCode.getText(test).includes(queue)) report(node);
    },
  }),
);

function testOfLoop(node: ESTree.Node): ESTree.Node | undefined {
  for (const above of selfAndAncestors(node)) {
    if (isFunction(above)) return undefined;
    const loop = parentOf(above);
    if (loop && 'test' in loop && /^(?:While|DoWhile|For)Statement$/.test(loop.type)) {
      return loop.test as ESTree.Node | undefined;
    }
  }
  return undefined;
}
