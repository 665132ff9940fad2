import { globalCall } from '../ast/node.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const preferStructuredClone: RuleModule = defineRule(
  { name: 'prefer-structured-clone', advice: 'copy with structuredClone instead of through JSON' },
  (report, context) => ({
    CallExpression(node) {
      const [text] = globalCall(context, node, 'JSON', 'parse') ?? [];
      const [value, ...options] = globalCall(context, text, 'JSON', 'stringify') ?? [];
      if (!value || options.length > 0) return;
      report(node, {
        suggest: (fixer) =>
          fixer.replaceText(node, `structuredClone(${context.sourceCode.getText(value)})`),
      });
    },
  }),
);
