import type * as ESTree from 'estree';
import { type Kind, kindOf } from '../ast/kind.ts';
import { type Context, enclosingFunction, isLiteral } from '../ast/node.ts';
import { defineRule, type Edit, type RuleModule } from '../rule.ts';

export const noMixedReturnTypes: RuleModule = defineRule(
  {
    name: 'no-mixed-return-types',
    advice: 'return one type: code that is fed numbers and strings is compiled for neither',
  },
  (report, context) => {
    const kinds = new Map<ESTree.Node, Kind>();
    return {
      ReturnStatement({ argument }) {
        const owner = argument && enclosingFunction(argument);
        if (!owner) return;
        if (argument.type === 'ConditionalExpression' && isMixed(context, argument)) {
          const edit = editOf(context, argument);
          return report(argument, edit && { suggest: edit });
        }
        const kind = primitive(kindOf(context, argument));
        const before = kinds.get(owner);
        if (kind === undefined) return;
        if (before === undefined) kinds.set(owner, kind);
        else if (before !== kind) report(argument);
      },
    };
  },
);

/** A number on one side, a string on the other. A name that is compared with a number is one. */
function isMixed(
  context: Context,
  { test, consequent, alternate }: ESTree.ConditionalExpression,
): boolean {
  const sides = new Set(
    [consequent, alternate].map(
      (side) =>
        primitive(kindOf(context, side)) ??
        (isComparedWithNumber(test, side) ? 'number' : undefined),
    ),
  );
  return sides.has('number') && sides.has('string');
}

function isComparedWithNumber(test: ESTree.Expression, side: ESTree.Expression): boolean {
  if (test.type !== 'BinaryExpression' || side.type !== 'Identifier') return false;
  const { left, right, operator } = test;
  if (!/^[<>]=?$/.test(operator)) return false;
  const isSide = (node: ESTree.Node): boolean =>
    node.type === 'Identifier' && node.name === side.name;
  return (
    (isSide(left) && isLiteral(right, 'number')) || (isSide(right) && isLiteral(left, 'number'))
  );
}

/** `value >= 10 ? value : '0' + value` is `(value >= 10 ? '' : '0') + value`. */
function editOf(context: Context, node: ESTree.ConditionalExpression): Edit | undefined {
  const text = (part: ESTree.Node): string => context.sourceCode.getText(part);
  const { test, consequent, alternate } = node;
  for (const [plain, joined, swap] of [
    [consequent, alternate, false],
    [alternate, consequent, true],
  ] as const) {
    if (joined.type !== 'BinaryExpression' || joined.operator !== '+') continue;
    if (!isLiteral(joined.left, 'string') || text(joined.right) !== text(plain)) continue;
    const [yes, no] = swap ? [text(joined.left), "''"] : ["''", text(joined.left)];
    return (fixer) => fixer.replaceText(node, `(${text(test)} ? ${yes} : ${no}) + ${text(plain)}`);
  }
  return undefined;
}

function primitive(kind: Kind | undefined): Kind | undefined {
  return kind === 'string' || kind === 'number' ? kind : undefined;
}
