import type * as ESTree from 'estree';
import { type Context, isGlobal, methodCall } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const preferDateNow: RuleModule = defineRule(
  {
    name: 'prefer-date-now',
    advice: 'use Date.now(): here a Date is created only to read its time',
    fixes: true,
  },
  (report, context) => {
    const rewrite = (node: ESTree.Node): void => {
      if (makesDateNow(context, node)) return;
      // `return+new Date` has no space to part the words.
      const before = context.sourceCode.getTokenBefore(node);
      const isJoined = before?.range[1] === node.range![0] && /\w$/.test(before.value);
      const now = isJoined ? ' Date.now()' : 'Date.now()';
      report(node, { fix: (fixer) => fixer.replaceText(node, now) });
    };
    return {
      CallExpression(node) {
        const call = methodCall(node, 'getTime', 'valueOf');
        if (call && isNewDate(context, call.object)) rewrite(node);
        else if (isGlobal(context, node.callee, 'Number') && isNewDate(context, node.arguments[0]))
          rewrite(node);
      },
      'UnaryExpression[operator="+"]'(node: ESTree.UnaryExpression) {
        if (isNewDate(context, node.argument)) rewrite(node);
      },
    };
  },
);

/** `Date.now = Date.now || function () { return +new Date(); }`: rewritten, it would call itself. */
function makesDateNow(context: Context, node: ESTree.Node): boolean {
  return context.sourceCode
    .getAncestors(node)
    .some((each) => each.type === 'AssignmentExpression' && isDateNow(each.left));
}

function isDateNow(node: ESTree.Node): boolean {
  if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier') return false;
  const { object, property, computed } = node;
  const name =
    property.type === 'Literal'
      ? property.value
      : !computed && property.type === 'Identifier' && property.name;
  return object.name === 'Date' && name === 'now';
}

function isNewDate(context: Context, node: ESTree.Node | undefined): boolean {
  return (
    node?.type === 'NewExpression' &&
    node.arguments.length === 0 &&
    isGlobal(context, node.callee, 'Date')
  );
}
