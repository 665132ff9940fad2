import type { SourceCode } from 'eslint';
import type * as ESTree from 'estree';
import { type Context, isGlobal, methodCall, parentOf } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const preferDateNow: RuleModule = defineRule(
  {
    name: 'prefer-date-now',
    advice: 'use Date.now(): here a Date is created only to read its time',
    fixes: true,
  },
  (report, context) => {
    const rewrite = (node: ESTree.Node): void => {
      if (makesDateNow(context)) return;
      // `return+new Date` has no space between the words.
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

/**
 * True in a file that is written for engines without `Date.now`: in `Date.now = Date.now || function () { return +new Date(); }` the
 * rewritten function would call itself.
 */
function makesDateNow({ sourceCode }: Context): boolean {
  const known = polyfills.get(sourceCode);
  if (known !== undefined) return known;
  const found = mentionsMissing(sourceCode.ast, sourceCode);
  polyfills.set(sourceCode, found);
  return found;
}

const polyfills = new WeakMap<SourceCode, boolean>();

function mentionsMissing(node: ESTree.Node, sourceCode: SourceCode): boolean {
  if (isDateNow(node) && isTested(node)) return true;
  if (node.type === 'CallExpression' && definesNow(node)) return true;
  if (node.type === 'BinaryExpression' && node.operator === 'in' && isNow(node.left)) return true;
  return (sourceCode.visitorKeys[node.type] ?? []).some((key) =>
    [(node as unknown as Record<string, unknown>)[key]]
      .flat()
      .some((child) => child != null && mentionsMissing(child as ESTree.Node, sourceCode)),
  );
}

/** True if `Date.now` is a condition or the target of an assignment, and is neither called nor passed on. */
function isTested(node: ESTree.Node): boolean {
  const parent = parentOf(node);
  if (parent?.type === 'AssignmentExpression') return parent.left === node;
  return /^(?:Logical|Conditional|Unary|Binary)Expression$|^IfStatement$/.test(parent?.type ?? '');
}

/** Matches `Object.defineProperty(Date, 'now', …)`, `define(Date, { now })`. */
function definesNow({ arguments: [target, what] }: ESTree.SimpleCallExpression): boolean {
  if (target?.type !== 'Identifier' || target.name !== 'Date' || what === undefined) return false;
  if (what.type !== 'ObjectExpression') return isNow(what);
  return what.properties.some((each) => each.type === 'Property' && isNow(each.key));
}

function isNow(node: ESTree.Node): boolean {
  return node.type === 'Literal' ? node.value === 'now' : isNamed(node, 'now');
}

function isDateNow(node: ESTree.Node): boolean {
  if (node.type !== 'MemberExpression' || !isNamed(node.object, 'Date')) return false;
  return node.computed && node.property.type !== 'Literal' ? false : isNow(node.property);
}

function isNamed(node: ESTree.Node, name: string): boolean {
  return node.type === 'Identifier' && node.name === name;
}

function isNewDate(context: Context, node: ESTree.Node | undefined): boolean {
  return (
    node?.type === 'NewExpression' &&
    node.arguments.length === 0 &&
    isGlobal(context, node.callee, 'Date')
  );
}
