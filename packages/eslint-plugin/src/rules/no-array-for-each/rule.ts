import type * as ESTree from 'estree';
import { contains, isFunction, isPath, methodCall, parentOf } from '../../ast/node.ts';
import { isNotArray, takesListFirst } from '../../ast/not-array.ts';
import { freeName } from '../../ast/variable.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noArrayForEach: RuleModule = defineRule(
  {
    name: 'no-array-for-each',
    advice: 'walk the array in a loop: forEach calls a function for each element',
  },
  (report, context) => ({
    CallExpression(node) {
      const call = methodCall(node, 'forEach');
      if (!call || isNotArray(context, call.object) || takesListFirst(context, node)) return;
      const [callback, ...others] = call.args;
      if (takesKey(callback)) return;
      const statement = parentOf(node);
      const rewritable =
        isFunction(callback) &&
        others.length === 0 &&
        statement?.type === 'ExpressionStatement' &&
        isPath(call.object) &&
        isPlain(callback);
      if (!rewritable) return report(node);
      report(node, {
        suggest: (fixer) => {
          const text = (part: ESTree.Node): string => context.sourceCode.getText(part);
          const [item, index] = callback.params;
          const i = index ? text(index) : freeName(context, node, 'i', 'j', 'k');
          const array = text(call.object);
          const body = text(callback.body);
          const rest = callback.body.type === 'BlockStatement' ? body.slice(1) : ` ${body}; }`;
          return fixer.replaceText(
            statement,
            `for (let ${i} = 0; ${i} < ${array}.length; ${i}++) { const ${text(item!)} = ${array}[${i}];${rest}`,
          );
        },
      });
    },
  }),
);

/** True for `(value, key) => …`, the callback of maps, headers and URLSearchParams. */
function takesKey(callback: ESTree.Node | undefined): boolean {
  const second = isFunction(callback) ? callback.params[1] : undefined;
  return second?.type === 'Identifier' && /^_?(?:k|key)$/.test(second.name);
}

/** True if everything in the callback has the same meaning in the body of a loop. */
function isPlain(
  callback: ESTree.FunctionExpression | ESTree.ArrowFunctionExpression | ESTree.FunctionDeclaration,
): boolean {
  const [item, index, ...others] = callback.params;
  if (!item || others.length > 0 || callback.async || callback.generator) return false;
  if ([item, index].some((param) => param && param.type !== 'Identifier')) return false;
  return !contains(callback.body, /^(?:ReturnStatement|ThisExpression|FunctionDeclaration)$/);
}
