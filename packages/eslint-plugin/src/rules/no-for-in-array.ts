import type * as ESTree from 'estree';
import { kindOf } from '../ast/kind.ts';
import { type Context, isPath, parentOf } from '../ast/node.ts';
import { usesOf, variableOf } from '../ast/variable.ts';
import { defineRule, type RuleModule } from '../rule.ts';

const arrayMembers =
  /^(?:length|push|pop|shift|unshift|splice|forEach|map|filter|reduce|concat|sort)$/;

export const noForInArray: RuleModule = defineRule(
  {
    name: 'no-for-in-array',
    advice: 'walk an array by its index: for…in turns every index into a string',
  },
  (report, context) => ({
    ForInStatement(node) {
      const { left, right, body } = node;
      if (kindOf(context, right) !== 'array' && !isUsedAsArray(context, right)) return;
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

/** A parameter says nothing of itself; what the rest of the function does with it may. */
function isUsedAsArray(context: Context, node: ESTree.Node): boolean {
  const variable = variableOf(context, node);
  if (variable?.defs[0]?.type !== 'Parameter') return false;
  return usesOf(variable).some((use) => {
    const parent = parentOf(use);
    if (parent?.type !== 'MemberExpression' || parent.object !== use || parent.computed)
      return false;
    return parent.property.type === 'Identifier' && arrayMembers.test(parent.property.name);
  });
}
