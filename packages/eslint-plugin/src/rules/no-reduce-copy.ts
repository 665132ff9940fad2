import type * as ESTree from 'estree';
import { type Context, globalCall, isFunction, methodCall } from '../ast/node.ts';
import { usesOf, variableOf } from '../ast/variable.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const noReduceCopy: RuleModule = defineRule(
  {
    name: 'no-reduce-copy',
    advice: 'change the accumulator instead of copying it for each element',
    fixes: true,
  },
  (report, context) => ({
    CallExpression(node) {
      const call = methodCall(node, 'reduce', 'reduceRight');
      const [callback, initial] = call?.args ?? [];
      if (!isFunction(callback) || callback.body.type === 'BlockStatement') return;
      const [accumulator] = callback.params;
      if (accumulator?.type !== 'Identifier') return;
      const copy = copyOf(context, callback.body, accumulator.name);
      if (!copy) return;
      const variable = variableOf(context, copy.source);
      const isOnlyUse = variable !== undefined && usesOf(variable).length === 1;
      // Nobody else has seen an object that is written down here.
      const isFresh = initial?.type === 'ObjectExpression';
      if (!isOnlyUse || !isFresh || !copy.rest) return report(copy.node);
      const rest = copy.rest.map((part) => context.sourceCode.getText(part)).join(', ');
      const argument = copy.node.type === 'ObjectExpression' ? `{ ${rest} }` : rest;
      report(copy.node, {
        // An object as the body of an arrow stands in parentheses, and they stay.
        fix: (fixer) =>
          fixer.replaceText(callback.body, `Object.assign(${accumulator.name}, ${argument})`),
      });
    },
  }),
);

/** `{ ...all, … }`, `Object.assign({}, all, …)` or `[...all, …]`; `rest` is what is added, where that can be moved. */
function copyOf(
  context: Context,
  node: ESTree.Expression,
  name: string,
): { node: ESTree.Node; source: ESTree.Node; rest?: ESTree.Node[] } | undefined {
  const isAccumulator = (part: ESTree.Node | null | undefined): boolean =>
    part?.type === 'Identifier' && part.name === name;
  if (node.type === 'ObjectExpression') {
    const [first, ...rest] = node.properties;
    if (first?.type !== 'SpreadElement' || !isAccumulator(first.argument)) return undefined;
    return { node, source: first.argument, ...(rest.length > 0 && { rest }) };
  }
  if (node.type === 'ArrayExpression') {
    const [first] = node.elements;
    if (first?.type !== 'SpreadElement' || !isAccumulator(first.argument)) return undefined;
    return { node, source: first.argument };
  }
  const assign = globalCall(context, node, 'Object', 'assign');
  const [target, source, ...rest] = assign ?? [];
  if (target?.type !== 'ObjectExpression' || target.properties.length > 0) return undefined;
  if (!source || !isAccumulator(source)) return undefined;
  return { node, source, ...(rest.length > 0 && { rest }) };
}
