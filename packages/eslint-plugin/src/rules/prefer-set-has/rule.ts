import type { Rule } from 'eslint';
import type * as ESTree from 'estree';
import { isLiteral, methodCall, parentOf } from '../../ast/node.ts';
import { constantValue, usesOf, variableOf } from '../../ast/variable.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

/** Below this length, searching the array is as fast as a hash. */
const minElements = 16;

export const preferSetHas: RuleModule = defineRule(
  {
    name: 'prefer-set-has',
    advice: 'keep a long list that is only searched in a Set: an array is walked each time',
  },
  (report, context) => ({
    CallExpression(node) {
      const search = searchOf(node);
      const variable = search && variableOf(context, search.list);
      const list = variable && constantValue(variable);
      if (!search || !variable || list?.type !== 'ArrayExpression') return;
      if (list.elements.length < minElements) return;
      if (!list.elements.every((each) => isLiteral(each, 'string') || isLiteral(each, 'number')))
        return;
      const searches = usesOf(variable).map((use) => searchOf(parentOf(parentOf(use)!)));
      if (searches.includes(undefined)) return report(search.whole);
      report(search.whole, {
        suggest: (fixer) => {
          const edits: Rule.Fix[] = [
            fixer.insertTextBefore(list, 'new Set('),
            fixer.insertTextAfter(list, ')'),
          ];
          for (const each of searches) {
            const { list: name, value, whole, negated } = each!;
            const has = `${context.sourceCode.getText(name)}.has(${context.sourceCode.getText(value)})`;
            edits.push(fixer.replaceText(whole, negated ? `!${has}` : has));
          }
          return edits;
        },
      });
    },
  }),
);

interface Search {
  list: ESTree.Node;
  value: ESTree.Node;
  /** The boolean expression. */
  whole: ESTree.Node;
  negated: boolean;
}

/** Matches `list.includes(value)`, or a comparison that tests whether `list.indexOf(value)` found it. */
function searchOf(node: ESTree.Node | undefined): Search | undefined {
  const call = methodCall(node, 'includes', 'indexOf');
  if (!node || !call || call.args.length !== 1) return undefined;
  const found = { list: call.object, value: call.args[0]! };
  if (call.name === 'includes') return { ...found, whole: node, negated: false };
  const whole = parentOf(node);
  if (whole?.type !== 'BinaryExpression' || whole.left !== node) return undefined;
  const comparison = `${whole.operator} ${valueOf(whole.right)}`;
  if (['!== -1', '!= -1', '> -1', '>= 0'].includes(comparison))
    return { ...found, whole, negated: false };
  if (['=== -1', '== -1', '< 0'].includes(comparison)) return { ...found, whole, negated: true };
  return undefined;
}

function valueOf(node: ESTree.Expression): string {
  if (node.type === 'UnaryExpression' && node.operator === '-') return `-${valueOf(node.argument)}`;
  return isLiteral(node, 'number') ? String(node.value) : '';
}
