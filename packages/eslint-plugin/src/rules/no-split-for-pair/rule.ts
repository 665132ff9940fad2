import type * as ESTree from 'estree';
import { type Context, isLiteral, methodCall, parentOf } from '../../ast/node.ts';
import { constantValue, usesOf, variableOf } from '../../ast/variable.ts';
import { defineRule, type RuleModule } from '../../rule.ts';
import { pairEdit } from './rewrite.ts';

export const noSplitForPair: RuleModule = defineRule(
  {
    name: 'no-split-for-pair',
    advice: 'cut the pair with indexOf and slice: split makes an array and every part',
  },
  (report, context) => ({
    VariableDeclarator(node) {
      const call = methodCall(node.init, 'split');
      const [separator] = call?.args ?? [];
      if (!node.init || !call || !isLiteral(separator, 'string') || separator.value === '') return;
      const isPair =
        node.id.type === 'Identifier'
          ? isReadAsPair(context, node.id)
          : node.id.type === 'ArrayPattern' && node.id.elements.length === 2;
      if (!isPair) return;
      // A value other than a string may have its own split.
      const edit = pairEdit(context, node);
      report(node.init, edit && { suggest: edit });
    },
    MemberExpression(node) {
      const call = methodCall(node.object, 'split');
      if (call && isLiteral(call.args[0], 'string') && isIndex(node, 1)) report(node);
    },
  }),
);

/** True for a variable of which only the first two elements are ever read, including the second. */
function isReadAsPair(context: Context, id: ESTree.Identifier): boolean {
  const variable = variableOf(context, id);
  if (!variable || constantValue(variable) === undefined) return false;
  const reads = usesOf(variable).map(parentOf);
  const reading = (index: number) => (node: ESTree.Node | undefined) =>
    node?.type === 'MemberExpression' && isIndex(node, index);
  return reads.some(reading(1)) && reads.every((node) => reading(0)(node) || reading(1)(node));
}

function isIndex(node: ESTree.MemberExpression, index: number): boolean {
  return node.computed && isLiteral(node.property, 'number') && node.property.value === index;
}
