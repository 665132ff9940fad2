import type * as ESTree from 'estree';
import { type Context, globalCall, isFunction, methodCall } from '../../ast/node.ts';
import { provenKind } from '../../ast/proven-kind.ts';
import { usesOf, variableOf } from '../../ast/variable.ts';
import { defineRule, type Edit, type RuleModule } from '../../rule.ts';

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
      if (!isFunction(callback) || callback.body.type === 'BlockStatement' || callback.async)
        return;
      const [accumulator] = callback.params;
      if (accumulator?.type !== 'Identifier') return;
      const copy = copyOf(context, callback.body, accumulator.name);
      if (!copy) return;
      const variable = variableOf(context, copy.source);
      const isOnlyUse = variable !== undefined && usesOf(variable).length === 1;
      // An object literal here has no other references.
      const isFresh = initial?.type === 'ObjectExpression';
      if (!isOnlyUse || !isFresh || !copy.added) return report(copy.node);
      const all = accumulator.name;
      const changes = copy.added.map((property) => `${targetText(all, property)};`).join(' ');
      const arrow = context.sourceCode.getTokenBefore(
        callback.body,
        ({ value }) => value === '=>',
      )!;
      const edit: Edit = (fixer) =>
        fixer.replaceTextRange(
          [arrow.range[1], callback.range![1]],
          ` { ${changes} return ${all}; }`,
        );
      // Dynamic keys may include `__proto__`: the copy keeps it as a key, an assignment sets the prototype. An object other than an
      // array may call the reducer more than once with the same initial value.
      const keepsResult =
        copy.added.every((property) => isSafeKey(property)) &&
        initial.properties.length === 0 &&
        provenKind(context, call!.object) === 'array';
      report(copy.node, keepsResult ? { fix: edit } : { suggest: edit });

      function targetText(object: string, { key, value, computed }: ESTree.Property): string {
        const name = context.sourceCode.getText(key);
        const place = computed || key.type === 'Literal' ? `[${name}]` : `.${name}`;
        return `${object}${place} = ${context.sourceCode.getText(value)}`;
      }
    },
  }),
);

/** True for a literal key whose assignment has the same effect as the literal with it. */
function isSafeKey({ key, value, computed }: ESTree.Property): boolean {
  // A function gets its name from a literal, but not from an assignment to a property.
  if (isFunction(value) || value.type === 'ClassExpression') return false;
  const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' && key.value;
  return !computed && name !== false && String(name) !== '__proto__';
}

interface Copy {
  node: ESTree.Node;
  /** The accumulator that is copied. */
  source: ESTree.Node;
  /** Properties that the copy adds, if they are all written out. */
  added?: ESTree.Property[];
}

/** Matches `{ ...all, … }`, `Object.assign({}, all, …)` or `[...all, …]`. */
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
  const added = parts.filter(
    (part) => part?.type === 'Property' && part.kind === 'init' && !part.method,
  );
  return added.length === parts.length && added.length > 0
    ? { added: added as ESTree.Property[] }
    : {};
}
