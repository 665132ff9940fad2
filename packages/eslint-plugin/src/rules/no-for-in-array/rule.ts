import type * as ESTree from 'estree';
import { isArray } from '../../ast/is-array.ts';
import { isPath } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noForInArray: RuleModule = defineRule(
  {
    name: 'no-for-in-array',
    advice: 'walk an array by its index: for…in turns every index into a string',
  },
  (report, context) => ({
    ForInStatement(node) {
      const { left, right, body } = node;
      if (!isArray(context, right)) return;
      const name = nameOf(left);
      if (name === undefined || !isPath(right)) return report(node);
      report(node, {
        suggest: (fixer) => {
          const array = context.sourceCode.getText(right);
          const keyword =
            left.type !== 'VariableDeclaration' ? '' : left.kind === 'var' ? 'var ' : 'let ';
          const head = `for (${keyword}${name} = 0; ${name} < ${array}.length; ${name}++) `;
          return fixer.replaceTextRange([node.range![0], body.range![0]], head);
        },
      });
    },
  }),
);

function nameOf(left: ESTree.ForInStatement['left']): string | undefined {
  const target = left.type === 'VariableDeclaration' ? left.declarations[0]!.id : left;
  return target.type === 'Identifier' ? target.name : undefined;
}
