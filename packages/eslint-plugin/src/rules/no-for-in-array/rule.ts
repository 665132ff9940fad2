import type * as ESTree from 'estree';
import { kindOf } from '../../ast/kind.ts';
import { type Context, parentOf, isPath } from '../../ast/node.ts';
import { usesOf, variableOf } from '../../ast/variable.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

const arrayMembers =
  /^(?:length|push|pop|shift|unshift|splice|forEach|map|filter|reduce|concat|sort)$/;

/** True if this file shows that a value is an array. */
export function isArray(context: Context, node: ESTree.Node): boolean {
  return kindOf(context, node) === 'array' || isUsedAsArray(context, node);
}

/** Checks the uses of a parameter, whose declaration says nothing about its type. */
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
