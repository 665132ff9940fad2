import type * as ESTree from 'estree';
import { isBooleanContext, methodCall, parentOf } from '../../ast/node.ts';
import { provenKind } from '../../ast/proven-kind.ts';
import { defineRule, type Edit, type RuleModule } from '../../rule.ts';

export const preferTestOverMatch: RuleModule = defineRule(
  {
    name: 'prefer-test-over-match',
    advice: 'use test to check for a match: match creates an array of its results',
    fixes: true,
  },
  (report, context) => ({
    CallExpression(node) {
      const call = methodCall(node, 'match');
      const [pattern] = call?.args ?? [];
      const asked = call && existenceTest(node);
      if (!pattern || !asked) return;
      const isLiteral = pattern.type === 'Literal' && 'regex' in pattern;
      if (!isLiteral && pattern.type !== 'Identifier') return;
      const edit: Edit = (fixer) => {
        const text = context.sourceCode.getText(call.object);
        const subject = call.object.type === 'SequenceExpression' ? `(${text})` : text;
        const test = `${context.sourceCode.getText(pattern)}.test(${subject})`;
        return fixer.replaceText(asked.node, asked.none ? `!${test}` : test);
      };
      // A stored regular expression may be global, and would keep its position. A value other than a string may have its own
      // `match` or throw, where `test` converts anything to a string.
      const isString = provenKind(context, call.object) === 'string';
      report(asked.node, isLiteral && isString ? { fix: edit } : { suggest: edit });
    },
  }),
);

function existenceTest(node: ESTree.Node): { node: ESTree.Node; none: boolean } | undefined {
  if (isBooleanContext(node)) return { node, none: false };
  const parent = parentOf(node);
  if (parent?.type !== 'BinaryExpression' || parent.left !== node) return undefined;
  if (parent.right.type !== 'Literal' || parent.right.value !== null || 'regex' in parent.right)
    return undefined;
  if (/^!==?$/.test(parent.operator)) return { node: parent, none: false };
  return /^===?$/.test(parent.operator) ? { node: parent, none: true } : undefined;
}
