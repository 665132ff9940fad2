import { enclosingFunction, globalCall } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const preferGeneratedSerializer: RuleModule = defineRule(
  {
    name: 'prefer-generated-serializer',
    advice: 'generate a serializer for objects whose keys are known',
  },
  (report, context) => ({
    CallExpression(node) {
      const [value, replacer, indent] = globalCall(context, node, 'JSON', 'stringify') ?? [];
      // Generated serialization functions support neither indentation nor replacers.
      if (replacer !== undefined || indent !== undefined) return;
      if (value?.type !== 'ObjectExpression' || !enclosingFunction(node)) return;
      if (value.properties.every((each) => each.type === 'Property' && !each.computed))
        report(node);
    },
  }),
);
