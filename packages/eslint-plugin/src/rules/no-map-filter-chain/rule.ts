import { methodCall, parentOf } from '../../ast/node.ts';
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
      // The last of a chain speaks for all of it.
      const member = parentOf(node);
      const next = member && parentOf(member);
      if (!methodCall(next, 'map', 'filter') || member !== (next as { callee?: unknown }).callee) {
        const edit = onePassEdit(context, node);
        report(node, edit && { suggest: edit });
      }
    },
  }),
);
