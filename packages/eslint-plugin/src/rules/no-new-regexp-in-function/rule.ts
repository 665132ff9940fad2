import type * as ESTree from 'estree';
import { type Context, enclosingFunction, isGlobal, isLiteral } from '../../ast/node.ts';
import { constantValue, variableOf } from '../../ast/variable.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noNewRegexpInFunction: RuleModule = defineRule(
  {
    name: 'no-new-regexp-in-function',
    advice:
      'write the pattern as a literal, or build it once outside: here it is built on every call',
    fixes: true,
  },
  (report, context) => {
    const check = (node: ESTree.NewExpression | ESTree.SimpleCallExpression): void => {
      if (!isGlobal(context, node.callee, 'RegExp') || !enclosingFunction(node)) return;
      const [pattern, flags] = node.arguments;
      if (isFeatureTest(context, node, pattern, flags)) return;
      if (!pattern || !node.arguments.every((arg) => isKnownOutside(context, arg))) return;
      const literal =
        isLiteral(pattern, 'string') && (!flags || isLiteral(flags, 'string'))
          ? literalOf(
              String(pattern.value),
              flags ? String((flags as ESTree.SimpleLiteral).value) : '',
            )
          : undefined;
      report(
        node,
        literal === undefined ? undefined : { fix: (fixer) => fixer.replaceText(node, literal) },
      );
    };
    return { NewExpression: check, 'CallExpression[callee.name="RegExp"]': check };
  },
);

/** True inside `try` for a pattern that older engines may not know: as a literal it would be a SyntaxError of the whole file. */
function isFeatureTest(
  context: Context,
  node: ESTree.Node,
  pattern: ESTree.Node | undefined,
  flags: ESTree.Node | undefined,
): boolean {
  const isOld =
    isLiteral(pattern, 'string') &&
    !newerSyntax.test(String(pattern.value)) &&
    literalOf(String(pattern.value), '') !== undefined &&
    (flags === undefined || (isLiteral(flags, 'string') && /^[gim]*$/.test(String(flags.value))));
  if (isOld) return false;
  return context.sourceCode.getAncestors(node).some(({ type }) => type === 'TryStatement');
}

/** Matches lookbehind, named groups, modifiers and Unicode properties, which are newer than ES5. */
const newerSyntax = /\(\?(?![:=!])|\\[pPk]/;

/** True if the value is the same on every call. */
function isKnownOutside(context: Context, node: ESTree.Node): boolean {
  if (node.type === 'Literal') return true;
  if (node.type === 'BinaryExpression') {
    return isKnownOutside(context, node.left) && isKnownOutside(context, node.right);
  }
  const variable = variableOf(context, node);
  const value = variable && constantValue(variable);
  return value !== undefined && !enclosingFunction(value);
}

function literalOf(pattern: string, flags: string): string | undefined {
  try {
    return String(new RegExp(pattern, flags));
  } catch {
    return undefined;
  }
}
