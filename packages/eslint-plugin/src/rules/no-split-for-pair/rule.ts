import type * as ESTree from 'estree';
import { type Context, isLiteral, isPath, methodCall, parentOf } from '../../ast/node.ts';
import { constantValue, freeName, usesOf, variableOf } from '../../ast/variable.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

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
      if (node.id.type === 'Identifier') {
        if (isReadAsPair(context, node.id)) report(node.init);
        return;
      }
      if (node.id.type !== 'ArrayPattern' || node.id.elements.length !== 2) return;
      const [first, second] = node.id.elements;
      const declaration = parentOf(node);
      const rewritable =
        first?.type === 'Identifier' &&
        second?.type === 'Identifier' &&
        declaration?.type === 'VariableDeclaration' &&
        declaration.declarations.length === 1 &&
        parentOf(declaration)?.type !== 'ForStatement' &&
        isPath(call.object);
      if (!rewritable) return report(node.init);
      report(node.init, {
        suggest: (fixer) => {
          const text = context.sourceCode.getText(call.object);
          const at = freeName(context, node, 'at', 'split', 'end');
          const length = String(separator.value).length;
          return fixer.replaceText(
            declaration,
            `${declaration.kind} ${at} = ${text}.indexOf(${separator.raw}), ${first.name} = ${text}.slice(0, ${at}), ${second.name} = ${text}.slice(${at} + ${length});`,
          );
        },
      });
    },
    MemberExpression(node) {
      const call = methodCall(node.object, 'split');
      if (call && isLiteral(call.args[0], 'string') && isIndex(node, 1)) report(node);
    },
  }),
);

/** A variable of which only the first two elements are ever read, and the second is. */
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
