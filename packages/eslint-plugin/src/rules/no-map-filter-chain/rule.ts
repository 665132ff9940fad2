import { methodCall, parentOf } from '../../ast/node.ts';
import { isNotArray, isUsedAsOther, takesListFirst } from '../../ast/not-array.ts';
import { defineRule, type RuleModule } from '../../rule.ts';
import { onePassEdit } from './rewrite.ts';

export const noMapFilterChain: RuleModule = defineRule(
  {
    name: 'no-map-filter-chain',
    advice:
      'do the work of map and filter in one loop: each makes an array that only the next one reads',
  },
  (report, context) => ({
    CallExpression(node) {
      const outer = methodCall(node, 'map', 'filter');
      const inner = outer && methodCall(outer.object, 'map', 'filter');
      if (!inner || outer.args.length === 0 || inner.args.length === 0) return;
      if (isNotArray(context, inner.object) || takesListFirst(context, outer.object)) return;
      // The last call of a chain reports for all of it.
      const member = parentOf(node);
      const next = member && parentOf(member);
      if (isUsedAsOther(node)) return;
      if (!methodCall(next, 'map', 'filter') || member !== (next as { callee?: unknown }).callee) {
        const edit = onePassEdit(context, node);
        report(node, edit && { suggest: edit });
      }
    },
  }),
);
