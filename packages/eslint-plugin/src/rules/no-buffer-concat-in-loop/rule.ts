import { globalCall } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noBufferConcatInLoop: RuleModule = defineRule(
  {
    name: 'no-buffer-concat-in-loop',
    advice: 'gather the chunks and join them once: this copies all bytes for each chunk',
  },
  (report, context) => ({
    AssignmentExpression(node) {
      const [list] = globalCall(context, node.right, 'Buffer', 'concat') ?? [];
      if (list?.type !== 'ArrayExpression') return;
      const target = context.sourceCode.getText(node.left);
      if (list.elements.some((each) => each && context.sourceCode.getText(each) === target))
        report(node);
    },
  }),
);
