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
      if (!isOnlyUse || !isFresh || !copy.added) return report(copy.node);
      const all = accumulator.name;
      const changes = copy.added.map((property) => `${targetText(all, property)};`).join(' ');
      const arrow = context.sourceCode.getTokenBefore(
        callback.body,
        ({ value }) => value === '=>',
      )!;
      report(copy.node, {
        fix: (fixer) =>
          fixer.replaceTextRange(
            [arrow.range[1], callback.range![1]],
            ` { ${changes} return ${all}; }`,
          ),
      });

      function targetText(object: string, { key, value, computed }: ESTree.Property): string {
        const name = context.sourceCode.getText(key);
        const place = computed || key.type === 'Literal' ? `[${name}]` : `.${name}`;
        return `${object}${place} = ${context.sourceCode.getText(value)}`;
      }
    },
  }),
);

interface Copy {
  node: ESTree.Node;
  /** Where the accumulator is copied from. */
  source: ESTree.Node;
  /** What the copy has more, where that is written down property by property. */
  added?: ESTree.Property[];
}

/** `{ ...all, … }`, `Object.assign({}, all, …)` or `[...all, …]`. */
function copyOf(context: Context, node: ESTree.Expression, name: string): Copy | undefined {
  const isAccumulator = (part: ESTree.Node | null | undefined): boolean =>
    part?.type === 'Identifier' && part.name === name;
  if (node.type === 'ObjectExpression' || node.type === 'ArrayExpression') {
    const [first, ...rest] = node.type === 'ObjectExpression' ? node.properties : node.elements;
    if (first?.type !== 'SpreadElement' || !isAccumulator(first.argument)) return undefined;
    return { node, source: first.argument, ...plainProperties(rest) };
  }
  const [target, source, ...rest] = globalCall(context, node, 'Object', 'assign') ?? [];
  if (target?.type !== 'ObjectExpression' || target.properties.length > 0) return undefined;
  if (!source || !isAccumulator(source)) return undefined;
  const [added] = rest;
  return {
    node,
    source,
    ...(rest.length === 1 &&
      added!.type === 'ObjectExpression' &&
      plainProperties(added.properties)),
  };
}

function plainProperties(parts: readonly (ESTree.Node | null)[]): Pick<Copy, 'added'> {
  const added = parts.filter((part) => part?.type === 'Property' && part.kind === 'init');
  return added.length === parts.length && added.length > 0
    ? { added: added as ESTree.Property[] }
    : {};
}
