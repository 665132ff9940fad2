import type { Rule, Scope } from 'eslint';
import type * as ESTree from 'estree';
import { kindOf } from '../../ast/kind.ts';
import { type Context, parentOf } from '../../ast/node.ts';
import { constantValue, usesOf, variableOf } from '../../ast/variable.ts';
import { defineRule, type Edit, type RuleModule } from '../../rule.ts';

export const preferMapForChurnedKeys: RuleModule = defineRule(
  {
    name: 'prefer-map-for-churned-keys',
    advice: 'keep keys that come and go in a Map: objects are made for known names',
  },
  (report, context) => ({
    'UnaryExpression[operator="delete"]'(node: ESTree.UnaryExpression) {
      const { argument } = node;
      if (argument.type !== 'MemberExpression' || !argument.computed) return;
      if (argument.property.type === 'Literal' || argument.object.type === 'Super') return;
      if (kindOf(context, argument.object) !== 'object') return;
      const variable = variableOf(context, argument.object);
      const edit = variable && toMap(context, variable);
      report(node, edit && { suggest: edit });
    },
  }),
);

/** Rewrites all uses or none: a partial conversion to a Map is broken. */
function toMap(context: Context, variable: Scope.Variable): Edit | undefined {
  const initial = constantValue(variable);
  if (initial?.type !== 'ObjectExpression' || initial.properties.length > 0) return undefined;
  const changes = usesOf(variable).map((use) => changeOf(context, use));
  if (changes.includes(undefined)) return undefined;
  return (fixer) => [
    fixer.replaceText(initial, 'new Map()'),
    ...changes.map((change): Rule.Fix => fixer.replaceText(change!.node, change!.text)),
  ];
}

function changeOf(
  context: Context,
  use: ESTree.Node,
): { node: ESTree.Node; text: string } | undefined {
  const text = (node: ESTree.Node): string => context.sourceCode.getText(node);
  const name = text(use);
  const access = parentOf(use);
  if (access?.type === 'BinaryExpression' && access.operator === 'in' && access.right === use) {
    return { node: access, text: `${name}.has(${text(access.left)})` };
  }
  if (access?.type !== 'MemberExpression' || access.object !== use || !access.computed)
    return undefined;
  const key = text(access.property);
  const parent = parentOf(access);
  switch (parent?.type) {
    case 'UnaryExpression':
      if (parent.operator !== 'delete') break;
      return { node: parent, text: `${name}.delete(${key})` };
    case 'AssignmentExpression':
      if (parent.left !== access) break;
      if (parent.operator !== '=' || parentOf(parent)?.type !== 'ExpressionStatement')
        return undefined;
      return { node: parent, text: `${name}.set(${key}, ${text(parent.right)})` };
    case 'UpdateExpression':
    case 'CallExpression':
      if (parent.type === 'CallExpression' && parent.callee !== access) break;
      return undefined;
    default:
  }
  return { node: access, text: `${name}.get(${key})` };
}
